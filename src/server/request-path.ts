/** What stands in the path of a request, exactly as the client meant it: no key is ever turned into another one. */
import type { Context } from "hono";
import { z } from "zod";
import { LilyError } from "#src/kernel/errors.ts";

/** A part that URL parsers take away together with the part before it. */
const DOT_PART = /(?:^|\/)(?:\.|%2e){1,2}(?=\/|$)/iu;

/** The target as it came over a socket; a request within the process has only its URL. */
const connectionSchema = z.object({ incoming: z.object({ url: z.string() }) });

/**
 * Refuses a path of which a URL parser or hono's router, which decodes leniently, would make another one: a key such as
 * `..` or `a#b` that was not encoded, or `%zz`, which would be the same key as `%25zz`.
 *
 * @throws {LilyError} `request_invalid`
 */
export async function requireExactPath(context: Context, next: () => Promise<void>): Promise<void> {
  const connection = connectionSchema.safeParse(context.env);
  if (connection.success) requirePlainTarget(connection.data.incoming.url);
  try {
    decodeURIComponent(new URL(context.req.url).pathname);
  } catch {
    // Says nothing more than that it cannot be decoded.
    throw invalid("a part of the path is not percent-encoded UTF-8");
  }
  await next();
}

/**
 * The keys `.` and `..` themselves cannot be written in a path.
 *
 * @param target as it came over the wire
 * @throws {LilyError} `request_invalid`
 */
export function requirePlainTarget(target: string): void {
  const [path = ""] = target.split("?", 1);
  if (DOT_PART.test(path)) throw invalid("the path has a part that is only dots, which leads elsewhere");
  if (/[\\#]/u.test(target)) throw invalid("the path holds a backslash or # that is not percent-encoded");
  // oxlint-disable-next-line no-control-regex -- what is not ASCII is what this looks for
  if (/[^\u0021-\u007e]/u.test(target))
    throw invalid("the path holds characters that are not percent-encoded");
}

function invalid(message: string): LilyError {
  return new LilyError("request_invalid", message, {
    next: "Percent-encode each part of the path, as encodeURIComponent does.",
  });
}
