/**
 * `/forget … --everywhere --yes` erases before its run begins, under the lock of its key: the run is given the receipt, and a
 * message without the words. So neither its checkpoints nor its turn hold what was erased.
 */
import type { SessionDeps } from "#src/app/session-deps.ts";
import { orRefusal, type CommandContext } from "#src/commands/command.ts";
import { parseCommand } from "#src/commands/parse-command.ts";
import { erasedText, erasesEverywhere, type ForgetFlags } from "#src/commands/catalog/forget.ts";
import { withMemory } from "#src/commands/catalog/memory/memory-action.ts";
import { erase } from "#src/erasure/erase.ts";
import type { ErasureDeps } from "#src/erasure/place.ts";
import { receiptEnvelope } from "#src/erasure/receipt.ts";
import type { KeyRef } from "#src/sessions/repository.ts";
import { findAnswer, refusal } from "#src/turns/turn-reply.ts";
import type { BeforeRun, RunAfter } from "#src/turns/turn-deps.ts";

/** What the conversation keeps of the message. */
const WITHOUT_WORDS = "/forget … --everywhere --yes";

export interface EraseFirstSources {
  readonly erasure: ErasureDeps;
  /** The context of a command that is given on a key. */
  readonly contextOf: (ref: KeyRef, deliveryId: string) => Promise<CommandContext>;
  /** Waits for upkeep beside turns, which may write what it has read before. */
  readonly settled: () => Promise<void>;
}

/** Makes what `runTurn` asks before each run. */
export function eraseFirst(deps: Pick<SessionDeps, "botNames">, sources: EraseFirstSources): BeforeRun {
  const { erasure, contextOf, settled } = sources;
  return async ({ ref, message, lease }): Promise<RunAfter | undefined> => {
    const flags = flagsIn(message.content, deps.botNames);
    if (flags === undefined) return undefined;
    const { owner, sessionKey } = ref;
    const withoutWords = { ...message, content: WITHOUT_WORDS };
    const context = await contextOf(ref, message.id);
    // It was done before, and the stored reply tells of it.
    const isRepeated = (await findAnswer(context.repository, ref, message.id)) !== undefined;
    if (isRepeated || context.memory === undefined) return { kind: "run", message: withoutWords };
    const text = await orRefusal(() => erasedText(withMemory(context), flags));
    if (typeof text !== "string") {
      const { sessionId } = context.session;
      return { kind: "reply", reply: refusal(text, { sessionId, deliveryId: message.id }) };
    }
    await settled();
    const receipt = await erase(erasure, {
      owner,
      text,
      asked: flags.text,
      held: { ref: { owner, sessionKey }, lease },
    });
    return { kind: "run", message: withoutWords, erased: receiptEnvelope(receipt) };
  };
}

/** The flags of a command that erases everywhere; `undefined` for everything else. */
function flagsIn(content: unknown, botNames: readonly string[]): ForgetFlags | undefined {
  if (typeof content !== "string" || !content.includes("--everywhere")) return undefined;
  const parsed = parseCommand(content, botNames);
  if (parsed.kind !== "command" || parsed.name !== "forget") return undefined;
  return erasesEverywhere(parsed.args);
}
