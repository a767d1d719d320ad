/** The rules that hold for a session: its rollover policy, its models, and the plugins that prepare its turns. */
import { BUILT_IN_PLUGINS, builtInChoices } from "#src/preparation/built-in.ts";
import {
  candidatesOf,
  choosePlugin,
  type Chosen,
  type PluginRegistry,
  type Surroundings,
} from "#src/preparation/plugins.ts";
import { defined } from "#src/kernel/json.ts";
import { LilyError } from "#src/kernel/errors.ts";
import {
  BUILT_IN,
  resolveControlModel,
  resolvePolicy,
  type RolloverPolicy,
} from "#src/sessions/rollover-policy.ts";
import type { Slot } from "#src/sessions/plugin-choices.ts";
import type { ControlModel } from "#src/sessions/verdict.ts";
import type { Manner, SessionFields } from "#src/sessions/session-fields.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";

/** The control model that decides for a session, and the level that named it. */
export function controlModelOf(deps: SessionDeps, session: SessionFields): ControlModel {
  return resolveControlModel({
    ...deps.agents.controlModels(session.activeAgent),
    session: session.controlModel,
  });
}

/** How the model of a session answers: as the user has chosen, or else as it is configured. */
export function mannerOf({ agents }: Pick<SessionDeps, "agents">, session: SessionFields): Manner {
  const { reasoning, verbosity } = session.modelConfig;
  return { ...agents.manner(session.activeAgent), ...defined({ reasoning, verbosity }) };
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

/** The model of a session: its own, or what is configured by now; `symbolic` while there is none. */
export function modelOf(deps: SessionDeps, session: SessionFields): string {
  return session.modelConfig.model ?? deps.agents.defaultModel(session.activeAgent);
}

/** All plugins there are. */
export function pluginsOf({ plugins = BUILT_IN_PLUGINS }: SessionDeps): PluginRegistry {
  return plugins;
}

/** What plugins may need, as far as the session has it. */
export function surroundingsOf(deps: SessionDeps, session: SessionFields): Surroundings {
  return {
    "control-model": controlModelOf(deps, session).model !== BUILT_IN,
    model: modelOf(deps, session) !== "symbolic",
    embedder: deps.searchesByMeaning === true,
  };
}

/** The plugin that a slot of the session's next turn takes. @throws {LilyError} `internal` when there is none at all */
export function pluginFor<S extends Slot>(
  deps: SessionDeps,
  session: SessionFields,
  slot: S,
  {
    rest,
    instead,
  }: { readonly rest?: Chosen<S>["rest"]; readonly instead?: Chosen<S>["used"]["instead"] } = {},
): Chosen<S> {
  const there = surroundingsOf(deps, session);
  const sources = {
    session: session.plugins,
    key: session.keyPlugins,
    ...deps.agents.pluginChoices(session.activeAgent),
    builtIn: builtInChoices({
      ...there,
      notesByModel: deps.extractsUnits === "model" && there["control-model"],
    }),
  };
  const candidates = rest ?? candidatesOf(slot, sources);
  const chosen = choosePlugin(pluginsOf(deps), slot, { candidates, there, instead });
  if (chosen === undefined) throw new LilyError("internal", `no plugin is left for ${slot}`);
  return chosen;
}
