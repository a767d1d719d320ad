/** The key or token that a request carries. */

/** Longest key or token, in characters; web servers do not take much longer headers either. */
const MAX_LENGTH = 8192;

/**
 * The text of `Authorization: Bearer …` or `x-api-key`. `undefined` without one, with another scheme, with one that is
 * too long, and with two headers that disagree: which of them holds is not for the server to choose.
 */
export function readCredential(headers: Pick<Headers, "get">): string | undefined {
  const authorization = headers.get("authorization");
  const key = headers.get("x-api-key");
  const bearer = /^Bearer +([^\s,]+)$/iu.exec(authorization ?? "")?.[1];
  if (authorization !== null && bearer === undefined) return undefined;
  if (bearer !== undefined && key !== null && bearer !== key) return undefined;
  const text = bearer ?? key ?? "";
  return text === "" || text.length > MAX_LENGTH ? undefined : text;
}
