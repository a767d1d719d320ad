/** Finds secrets in a text: by the scanner of known services, by the table, and by check digits. */
import { findNumbers } from "./numbers.ts";
import { SECRET_RULES, type SecretRule } from "./secret-rules.ts";
import { isMasked } from "./secret-shape.ts";
import type { SecretScanner } from "./secret-scanner.ts";
import type { Finding, PolicyRule } from "./verdict.ts";

/**
 * Findings in the order of their places, in the text as it stands and then in its compatibility form, where full-width digits
 * and hidden characters hide nothing. What only that form shows covers all of `text`, as its places are those of another text.
 */
export async function findSecrets(text: string, scan: SecretScanner): Promise<Finding[]> {
  const shown = await findShown(text, scan);
  if (shown.length > 0) return shown;
  const rule = await findDisguised(text, scan);
  return rule === undefined ? [] : [{ rule, start: 0, end: text.length }];
}

/** The rule of what only the compatibility form of `text` shows. */
export async function findDisguised(text: string, scan: SecretScanner): Promise<PolicyRule | undefined> {
  const compatible = compatibleForm(text);
  return compatible === text ? undefined : (await findShown(compatible, scan))[0]?.rule;
}

/** Findings in the text as it stands, in the order of their places. */
export async function findShown(text: string, scan: SecretScanner): Promise<Finding[]> {
  const scanned = (await scan(text)).map(({ start, end }): Finding => ({ rule: "secret_key", start, end }));
  const findings = [
    ...scanned,
    ...SECRET_RULES.flatMap((rule) => findByRule(text, rule)),
    ...findNumbers(text),
  ];
  return findings.sort((a, b) => a.start - b.start || b.end - a.end);
}

/** What one row of the table finds. */
export function findByRule(text: string, { rule, pattern, lengthOf }: SecretRule): Finding[] {
  return [...text.matchAll(pattern)].flatMap((match): Finding[] => {
    const { groups = {} } = match.indices ?? {};
    const [start = 0, end = 0] =
      Object.values(groups).find((span) => span !== undefined) ?? match.indices?.[0] ?? [];
    const value = text.slice(start, end);
    const length = isMasked(value) ? 0 : (lengthOf?.(value, text.slice(match.index, start)) ?? value.length);
    return length === 0 ? [] : [{ rule, start, end: start + length }];
  });
}

/** The text as a program may read it: compatibility forms undone, digits of any script as ASCII, hidden characters gone. */
function compatibleForm(text: string): string {
  return text
    .normalize("NFKC")
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
    .replaceAll(/(?![0-9])\p{Nd}/gu, (digit) => String(digitValue(digit)));
}

/** What a decimal digit stands for: each script has its ten in a row, from zero. */
function digitValue(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  let value = 0;
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value += 1;
  return value;
}

/** Rules that say more exactly what the scanner of known services finds too. */
const EXACT: readonly PolicyRule[] = ["private_key", "jwt", "url_credentials", "iban", "card_number"];

/** The rule of the first finding, or of an exact one that begins inside it. */
export function namedRule(findings: readonly Finding[]): PolicyRule {
  const [first] = findings;
  const exact = findings.find(({ rule, start }) => EXACT.includes(rule) && start < (first?.end ?? 0));
  return exact?.rule ?? first?.rule ?? "credential";
}

/** The text with the name of its rule in the place of each value. */
export function maskFindings(text: string, findings: readonly Finding[]): string {
  let masked = "";
  let at = 0;
  for (const { start, end, rule } of findings) {
    if (end <= at) continue;
    if (start >= at) masked += `${text.slice(at, start)}[${rule.replaceAll("_", " ")}]`;
    at = end;
  }
  return masked + text.slice(at);
}

/** Keys and tokens of services are long; what has no such run needs no scanner, which takes half a second to load. */
const LONG_RUN = /\S{12}/u;

/** `text` with the name of its rule in the place of each secret; a scanner that cannot work leaves the other rules. */
export async function maskSecrets(text: string, scan: SecretScanner): Promise<string> {
  const scanned: SecretScanner = async (wanted) =>
    LONG_RUN.test(wanted) ? scan(wanted).catch(() => []) : [];
  return maskFindings(text, await findSecrets(text, scanned));
}
