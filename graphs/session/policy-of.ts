/** The rules that hold for a session: its rollover policy and its control model. */
import { resolveControlModel } from "#src/sessions/control-model.ts";
import type { ControlModel } from "#src/sessions/verdict.ts";
import { resolvePolicy, type RolloverPolicy } from "#src/sessions/rollover-policy.ts";
import type { Manner, SessionFields } from "#src/sessions/session-fields.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";

/** The control model that decides for a session, and the level that named it. */
export function controlModelOf(deps: SessionDeps, session: SessionFields): ControlModel {
  return resolveControlModel({ ...deps.controlModels(session.activeAgent), session: session.controlModel });
}

/** How the model of a session answers: as the user has chosen, or else as it is configured. */
export function mannerOf({ manner }: Pick<SessionDeps, "manner">, session: SessionFields): Manner {
  const { reasoning, verbosity } = session.modelConfig;
  return {
    ...manner?.(session.activeAgent),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(verbosity === undefined ? {} : { verbosity }),
  };
}

/** Base, key prefix, agent, then the session's own overrides. */
export function policyOf(deps: SessionDeps, session: SessionFields): RolloverPolicy {
  return resolvePolicy(deps.policies, {
    sessionKey: session.sessionKey,
    agent: session.activeAgent,
    session: session.rollover,
    ownKey: session.ownKey,
    mode: deps.lifecycleMode,
  });
}
