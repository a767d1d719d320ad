/** The memory of a run: whose it is, and from where a write is said to come, is read from the session, nowhere else. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import type { CommandMemory } from "#src/commands/command.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { ownMemory } from "#memory/namespaces.ts";
import { createFactStore } from "#memory/facts/fact-store.ts";
import { checkText } from "#memory/policy/check-text.ts";
import type { PolicyVerdict } from "#memory/policy/verdict.ts";
import { createSecretlintScanner, type SecretScanner } from "#memory/policy/secret-scanner.ts";

/** Its rules are loaded with the first text that is checked, once a process. */
const scanWithSecretlint = createSecretlintScanner();

/** What finds secrets in a run. */
export function scanWith({ scanSecrets }: Pick<SessionDeps, "scanSecrets">): SecretScanner {
  return scanSecrets ?? scanWithSecretlint;
}

/** What the policy says of a text that is to be kept; `isTrusted` by default: the owner said it. */
export function gateOf(deps: Pick<SessionDeps, "scanSecrets">, { isTrusted = true } = {}) {
  return (text: string, isName = false): Promise<PolicyVerdict> =>
    checkText(text, { scan: scanWith(deps), isTrusted, isName });
}

/**
 * Whose memory a session reads and keeps: its owner's, or that of its key alone; `undefined` where memory is switched off,
 * or for this key.
 */
export function memoryOwner(
  { memory }: Pick<SessionDeps, "memory">,
  { owner, sessionKey }: Pick<SessionFields, "owner" | "sessionKey">,
): string | undefined {
  const of = memory?.of?.(sessionKey) ?? "shared";
  if (memory?.enabled === false || of === "none") return undefined;
  return of === "own" ? ownMemory(owner, sessionKey) : owner;
}

/**
 * The memory of a session; `undefined` when it has none.
 *
 * @param turn number of the turn in which something is remembered
 */
export function memoryOf(
  deps: Pick<SessionDeps, "clock" | "ids" | "memory" | "scanSecrets">,
  store: BaseStore,
  { session, turn }: { readonly session: SessionFields; readonly turn?: number },
): CommandMemory | undefined {
  const owner = memoryOwner(deps, session);
  if (owner === undefined) return undefined;
  const { clock, ids } = deps;
  const scan = scanWith(deps);
  return {
    facts: createFactStore(store, { clock, ids, scan }),
    who: {
      owner,
      agent: session.activeAgent,
      sessionId: session.sessionId,
      ...(turn === undefined ? {} : { turn }),
    },
  };
}
