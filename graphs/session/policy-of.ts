/** The rollover policy that holds for a session. */
import { resolvePolicy, type RolloverPolicy } from "#src/sessions/rollover-policy.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";

/** Base, key prefix, agent, then the session's own overrides. */
export function policyOf(deps: SessionDeps, session: SessionFields): RolloverPolicy {
  return resolvePolicy(deps.policies, {
    sessionKey: session.sessionKey,
    agent: session.activeAgent,
    session: session.rollover,
    ownKey: session.ownKey,
  });
}
