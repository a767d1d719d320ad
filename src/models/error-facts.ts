/** Reads what can be known of anything that was thrown by a model call, without knowing the class it was made of. */
import { errorMessage } from "#src/kernel/errors.ts";

/** What an error and its causes say. */
export interface ErrorFacts {
  /** HTTP status, where the server answered. */
  readonly status: number | undefined;
  /** Error codes and types, of the provider and of the system, outermost first. */
  readonly codes: readonly string[];
  /** `name` and class names, outermost first. */
  readonly names: readonly string[];
  /** Messages, outermost first. May hold secrets. */
  readonly messages: readonly string[];
  /** How long the server asks to be left alone, in milliseconds. */
  readonly retryAfterMs: number | undefined;
}

/** Causes are followed this deep: wrapper, client, fetch, socket, and one to spare. */
const MAX_DEPTH = 5;

/** Collects the facts of `error` and its causes. */
export function readErrorFacts(error: unknown): ErrorFacts {
  const links = chainOf(error);
  return {
    status: firstOf(links, statusOf),
    codes: links.flatMap(codesOf),
    names: links.flatMap(namesOf),
    messages: links.map(messageOf).filter((message) => message !== ""),
    retryAfterMs: firstOf(links, retryAfterOf),
  };
}

type Link = Readonly<Record<string, unknown>>;

function chainOf(error: unknown): Link[] {
  const links: Link[] = [];
  let next: unknown = error;
  while (links.length < MAX_DEPTH && next !== undefined && next !== null) {
    const link = (typeof next === "object" ? next : { message: errorMessage(next) }) as Link;
    links.push(link);
    next = link["cause"];
  }
  return links;
}

function firstOf<T>(links: readonly Link[], read: (link: Link) => T | undefined): T | undefined {
  return links.map(read).find((value) => value !== undefined);
}

/** Servers put the status in `status`, or, in an error inside a stream, as a number in `code`. */
function statusOf(link: Link): number | undefined {
  return [link["status"], link["statusCode"], link["code"], Number(link["code"])].find(isErrorStatus);
}

function isErrorStatus(value: unknown): value is number {
  return typeof value === "number" && value >= 400 && value <= 599;
}

function codesOf(link: Link): string[] {
  const body = link["error"];
  const nested = typeof body === "object" && body !== null ? (body as Link) : {};
  return [link["code"], link["type"], nested["code"], nested["type"]].filter(
    (code) => typeof code === "string",
  );
}

function namesOf(link: Link): string[] {
  return [link["name"], link.constructor?.name].filter((name) => typeof name === "string");
}

function messageOf(link: Link): string {
  const message = link["message"];
  return typeof message === "string" ? message : "";
}

/** Dates are measured against the server's own `date`, so no local clock is asked. */
function retryAfterOf(link: Link): number | undefined {
  const exactMs = numberOf(headerOf(link, "retry-after-ms"));
  if (exactMs !== undefined) return exactMs;
  const retryAfter = headerOf(link, "retry-after");
  const seconds = numberOf(retryAfter);
  if (seconds !== undefined) return seconds * 1000;
  const waitMs = Date.parse(retryAfter ?? "") - Date.parse(headerOf(link, "date") ?? "");
  return Number.isNaN(waitMs) ? undefined : Math.max(0, waitMs);
}

function numberOf(text: string | undefined): number | undefined {
  if (text === undefined || !/^\s*\d+(?:\.\d+)?\s*$/u.test(text)) return undefined;
  return Number(text);
}

function headerOf(link: Link, name: string): string | undefined {
  const headers = link["headers"];
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  if (typeof headers !== "object" || headers === null) return undefined;
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}
