/** What commands may look at, for a run inside the graph and for a read beside it. */
import type { CommandContext, SessionPlugins } from "#src/commands/command.ts";
import { entryOf, type Chain } from "#src/sessions/chain.ts";
import { unusable } from "#src/preparation/plugins.ts";
import { SLOTS, type Slot } from "#src/sessions/plugin-choices.ts";
import type { SessionRepository } from "#src/sessions/repository.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import type { Verdict } from "#src/sessions/verdict.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { parseModelReference, printModelReference } from "#src/models/model-reference.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { solverOf } from "./locate-session.ts";
import { recallCharacters } from "./recall-bounds.ts";
import { controlModelOf, pluginFor, pluginsOf, policyOf, surroundingsOf } from "./policy-of.ts";
import { gateOf } from "./run-memory.ts";

/** Why the session went on when its last turn came, as the transcript has it. */
export async function lastVerdict(
  repository: SessionRepository,
  session: SessionFields,
): Promise<Verdict | null> {
  const last = session.turns === 0 ? undefined : await repository.readTurn(session, session.turns);
  return last?.explanation.verdict ?? null;
}

/** The context of a command in `session`. @throws {LilyError} `session_not_found` when the chain has no such session */
export function commandContext(
  deps: SessionDeps,
  subject: {
    readonly chain: Chain;
    readonly session: SessionFields;
    readonly repository: SessionRepository;
    readonly verdict: Verdict | null;
  } & Pick<
    CommandContext,
    "agents" | "tools" | "memory" | "evidence" | "compact" | "erasing" | "unanswered" | "promptOf"
  >,
): CommandContext {
  const entry = entryOf(subject.chain, subject.session.sessionId);
  if (entry === undefined) {
    throw new LilyError(
      "session_not_found",
      `session ${subject.session.sessionId} is not part of its key's chain`,
    );
  }
  return {
    nowMs: deps.clock.now(),
    ...subject,
    entry,
    policy: policyOf(deps, subject.session),
    recallCharacters: recallCharacters(deps.limits),
    solver: solverOf(deps, subject.session),
    configured: deps.manner?.(subject.session.activeAgent) ?? {},
    controlModel: controlModelOf(deps, subject.session),
    plugins: pluginsFor(deps, subject.session),
    mode: deps.lifecycleMode,
    storage: deps.storageName,
    priceOf: deps.priceOf ?? (() => undefined),
    normalizeModel: (reference) => printModelReference(parseModelReference(reference)),
    files: deps.files,
    gate: gateOf(deps),
  };
}

function pluginsFor(deps: SessionDeps, session: SessionFields): SessionPlugins {
  const { plugins: all, problems } = pluginsOf(deps);
  const there = surroundingsOf(deps, session);
  const isOff = (slot: Slot): boolean => slot === "sd" && deps.extractsUnits === "off";
  const slots = SLOTS.filter((slot) => all.some((plugin) => plugin.slot === slot) && !isOff(slot));
  return {
    all,
    problems,
    used: Object.fromEntries(slots.map((slot) => [slot, pluginFor(deps, session, slot).used])),
    objection: (plugin) =>
      isOff(plugin.slot)
        ? "nothing is noted, for units.extract in config.json is off"
        : unusable(plugin, there),
  };
}
