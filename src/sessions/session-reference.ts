/** Which session of a chain a person means by `2`, `#2`, the start of an id, or `previous`. */
import { LilyError } from "#src/kernel/errors.ts";
import type { Chain, ChainEntry } from "./chain.ts";

/**
 * The session of `chain` that `reference` names: its ordinal, `previous`, or at least four characters of its id.
 *
 * @throws {LilyError} `session_not_found` or `session_ambiguous`, with what to type instead.
 */
export function findSessionByReference(chain: Chain, reference: string): ChainEntry {
  const wanted = reference.trim().replace(/^#/u, "").toLowerCase();
  const matches = matching(chain, wanted);
  if (matches.length === 1 && matches[0] !== undefined) return matches[0];
  if (matches.length === 0) {
    throw new LilyError(
      "session_not_found",
      `no session of this conversation is called ${JSON.stringify(reference)}`,
      {
        next: "/sessions lists them by number.",
      },
    );
  }
  const names = matches.map((entry) => `${entry.ordinal} (${entry.sessionId.slice(0, 8)})`).join(", ");
  throw new LilyError("session_ambiguous", `${JSON.stringify(reference)} could be any of ${names}`, {
    next: "Use the number, or more of the id.",
  });
}

function matching(chain: Chain, wanted: string): ChainEntry[] {
  if (wanted === "previous") {
    const latest = chain.sessions.at(-1);
    return chain.sessions.filter((entry) => entry.sessionId === latest?.previous);
  }
  if (/^\d{1,6}$/u.test(wanted)) {
    const byOrdinal = chain.sessions.filter((entry) => entry.ordinal === Number(wanted));
    if (byOrdinal.length > 0) return byOrdinal;
  }
  return wanted.length < 4 ? [] : chain.sessions.filter((entry) => entry.sessionId.startsWith(wanted));
}
