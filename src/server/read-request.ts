/** Reads what comes with a request: a JSON body within a limit and a query, each checked by its schema. */
import type { z } from "zod";
import { LilyError } from "#src/kernel/errors.ts";

const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json$/u;

/**
 * The body of a request. No body at all counts as `{}`.
 *
 * @throws {LilyError} `request_too_large`, `request_invalid`
 */
export async function readBody<T>(request: Request, schema: z.ZodType<T>, maxBytes: number): Promise<T> {
  const bytes = await readBytes(request, maxBytes);
  if (bytes.length === 0) return check(schema, {}, "the body");
  const type = (request.headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (!JSON_TYPE.test(type)) {
    throw invalid(
      `the body is ${type === "" ? "of no stated type" : shown(type)}, not application/json`,
      "Send JSON with the header Content-Type: application/json.",
    );
  }
  return check(schema, parseJson(bytes), "the body");
}

/** The query of a request. @throws {LilyError} `request_invalid` */
export function readQuery<T>(request: Request, schema: z.ZodType<T>): T {
  return check(schema, Object.fromEntries(new URL(request.url).searchParams), "the query");
}

async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  // What the header says spares reading; what comes is counted all the same.
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bodyOf(request)) {
    size += chunk.length;
    // Leaving the loop cancels the stream.
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function bodyOf(request: Request): AsyncIterable<Uint8Array> | Iterable<Uint8Array> {
  return request.body ?? [];
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    // The parser's own text quotes what was sent.
    throw invalid("the body is not JSON in UTF-8", "Send one JSON object.");
  }
}

function check<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where =
    issue === undefined || issue.path.length === 0 ? what : `${shown(issue.path.join("."))} in ${what}`;
  throw invalid(
    `${where} is not as it should be: ${shorten(issue?.message ?? "invalid")}`,
    "GET /lily/v1/openapi.json describes every request.",
  );
}

function tooLarge(maxBytes: number): LilyError {
  return new LilyError("request_too_large", `the body has more than ${maxBytes} bytes`, {
    next: "Send less in one request; nothing was stored.",
  });
}

function invalid(message: string, next: string): LilyError {
  return new LilyError("request_invalid", message, { next });
}

function shown(text: string): string {
  return JSON.stringify(shorten(text));
}

function shorten(text: string): string {
  return (text.length > 200 ? `${text.slice(0, 200)}…` : text).toWellFormed();
}
