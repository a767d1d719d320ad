/** Says which conversation this is, once the storage is open. */
import { unansweredText } from "#src/commands/unanswered-message.ts";
import { durationText } from "#src/explain/duration-text.ts";
import { fromInstant } from "#src/kernel/clock.ts";
import { latestEntry } from "#src/sessions/chain.ts";
import { newestTurns } from "#src/sessions/transcript.ts";
import type { Engine } from "./engine.ts";
import { printableKey, printableLine } from "./printable.ts";
import { wrapped } from "./render/word-wrap.ts";
import type { Screen } from "./screen.ts";
import { counted } from "#src/kernel/markdown.ts";

/** E.g. `cli:main goes on with session 3 “Trip” (4 turns, the last one 2 h ago)`; and what was left unanswered. */
export async function welcomeText(engine: Engine, screen: Screen): Promise<string> {
  const { notice, timeZone } = engine;
  const left = await engine.unanswered();
  const warnings = [
    ...(notice === undefined ? [] : [notice]),
    ...(left === undefined ? [] : [unansweredText(left, { timeZone, nowMs: engine.now() })]),
  ].map((text) => screen.paint.yellow(wrapped(printableLine(text), screen)));
  const where = screen.paint.dim(wrapped(await conversationText(engine), screen));
  return [where, ...warnings].join("\n");
}

async function conversationText(engine: Engine): Promise<string> {
  const { repository, owner, sessionKey } = engine;
  const key = printableKey(sessionKey);
  const chain = await repository.readChain({ owner, sessionKey });
  if (chain === undefined) return `${key} begins its first session`;
  const { sessionId, ordinal, title } = latestEntry(chain);
  const name = `session ${ordinal}${title === undefined ? "" : ` “${printableLine(title)}”`}`;
  const last = (await newestTurns(repository, chain, { sessionId, count: 1 })).at(-1);
  if (last === undefined) return `${key} goes on with ${name}, in which nothing was said yet`;
  const agoMs = Math.max(0, engine.now() - fromInstant(last.at));
  const ago = agoMs < 1000 ? "just now" : `${durationText(agoMs)} ago`;
  const turns = last.sessionId === sessionId ? `${counted(last.turn, "turn")}, ` : "";
  return `${key} goes on with ${name} (${turns}the last one ${ago})`;
}
