/** What stands in the path of a request, exactly as the client meant it: no key is ever turned into another one. */
import { LilyError } from "#src/kernel/errors.ts";

const NEXT = "Percent-encode each part of the path, as encodeURIComponent does.";

/** A part that URL parsers take away together with the part before it. */
const DOT_PART = /(?:^|\/)(?:\.|%2e){1,2}(?=\/|$)/iu;

/**
 * Refuses a request target that a URL parser would change, so that a key such as `..` or `a#b` that was not encoded does
 * not become another key. The keys `.` and `..` themselves cannot be written in a path.
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

/**
 * The decoded part of a URL's path at `index`, counted from 0. Read from the URL itself and not from the router, which
 * decodes leniently: `%zz` and `%25zz` would be one key.
 *
 * @throws {LilyError} `request_invalid` when it is not percent-encoded UTF-8
 */
export function pathPart(url: string, index: number): string {
  const encoded = new URL(url).pathname.split("/")[index + 1] ?? "";
  try {
    return decodeURIComponent(encoded);
  } catch {
    // Says nothing more than that it cannot be decoded.
    throw invalid("a part of the path is not percent-encoded UTF-8");
  }
}

function invalid(message: string): LilyError {
  return new LilyError("request_invalid", message, { next: NEXT });
}
