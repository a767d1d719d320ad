/** Filters on stored values, with the meaning that LangGraph's `InMemoryStore` gives them. */
import { LilyError } from "#src/kernel/errors.ts";

/** A filter that was checked: tells whether a value fulfils every condition. */
export type Filter = (value: Readonly<Record<string, unknown>>) => boolean;

type Test = (item: unknown) => boolean;

const OPERATORS: Readonly<Record<string, (wanted: unknown) => Test>> = {
  $eq: (wanted) => (item) => item === wanted,
  $ne: (wanted) => (item) => item !== wanted,
  $gt: (wanted) => (item) => numeric(item) > numeric(wanted),
  $gte: (wanted) => (item) => numeric(item) >= numeric(wanted),
  $lt: (wanted) => (item) => numeric(item) < numeric(wanted),
  $lte: (wanted) => (item) => numeric(item) <= numeric(wanted),
  $in: (wanted) => (item) => Array.isArray(wanted) && wanted.includes(item),
  $nin: (wanted) => (item) => !Array.isArray(wanted) || !wanted.includes(item),
};

/**
 * Compiles a filter. A plain value means equality of primitives: objects and arrays are equal to nothing. Several
 * operators on a field all have to hold. `$gt`, `$gte`, `$lt` and `$lte` compare as numbers, so text that is no
 * number compares as false. A field that is absent is `undefined`.
 *
 * @throws {LilyError} `internal` for an operator that does not exist: such a filter is a mistake in a program.
 */
export function compileFilter(filter: Readonly<Record<string, unknown>>): Filter {
  const tests = Object.entries(filter).map(([field, condition]) => ({
    field,
    test: testOf(field, condition),
  }));
  return (value) =>
    tests.every(({ field, test }) => test(Object.hasOwn(value, field) ? value[field] : undefined));
}

function testOf(field: string, condition: unknown): Test {
  if (!isOperators(condition)) return (item) => item === condition;
  const tests = Object.entries(condition).map(([name, wanted]) => {
    const operator = Object.hasOwn(OPERATORS, name) ? OPERATORS[name] : undefined;
    if (operator === undefined) throw unknownOperator(field, name);
    return operator(wanted);
  });
  return (item) => tests.every((test) => test(item));
}

function isOperators(condition: unknown): condition is Record<string, unknown> {
  if (typeof condition !== "object" || condition === null || Array.isArray(condition)) return false;
  const names = Object.keys(condition);
  return names.length === 0 || names.some((name) => name.startsWith("$"));
}

// Number({}) calls methods that stored data may have named; nothing is lost by not comparing objects.
function numeric(value: unknown): number {
  return typeof value === "object" && value !== null ? Number.NaN : Number(value);
}

function unknownOperator(field: string, name: string): LilyError {
  return new LilyError(
    "internal",
    `the filter on ${JSON.stringify(field)} uses ${name}, which is no operator`,
    {
      next: `Use one of ${Object.keys(OPERATORS).join(", ")}.`,
    },
  );
}
