/** Renders the prompt of a committed turn's model call again, for whoever asks what the model was given. */
import type { CommandContext } from "#src/commands/command.ts";
import { withNotesInMessage } from "#src/models/wire/late-notes.ts";
import { turnsOfCall } from "#src/sessions/call-receipt.ts";
import type { Chain } from "#src/sessions/chain.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { inheritedNotes, notedAfter, type Noted } from "#src/sessions/transcript.ts";
import { fromLangChain } from "#src/turns/langchain-messages.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { hashesOf, readSources, renderPrompt, type PromptReader } from "./prompt.ts";
import { storedSummary } from "./summaries.ts";

/** Makes the renderer of a session. What it shows is what was sent where the hash says so. */
export function promptOf(
  deps: SessionDeps,
  run: PromptReader,
  { chain, session }: { readonly chain: Chain; readonly session: SessionFields },
): NonNullable<CommandContext["promptOf"]> {
  return async (record, index) => {
    const { receipt, calls = [] } = record.explanation;
    const call = calls[index];
    if (receipt === undefined || call === undefined) return undefined;
    const noted = await notedBefore(run, { chain, session }, record.turn);
    const { turn: number, messages } = record;
    const sources = await readSources(deps, run, { session, turn: { number, messages, receipt, ...noted } });
    const turns = [...turnsOfCall(calls, index)];
    const summary = call.summary && (await storedSummary(run, { chain, session, ranges: call.summary }));
    const prompt = await renderPrompt(deps, run, { sources, call: { ...call, turns }, summary });
    const sent = prompt.map((message) => {
      const { timestamp: _timestamp, ...said } = fromLangChain(message, "");
      return said;
    });
    return { messages: withNotesInMessage(sent), isExact: hashesOf(prompt).sent === call.sent };
  };
}

async function notedBefore(
  { repository }: PromptReader,
  { chain, session }: { readonly chain: Chain; readonly session: SessionFields },
  turn: number,
): Promise<Noted> {
  let noted = await inheritedNotes(repository, chain, session.sessionId);
  for (const stored of await repository.readStoredTurns(session, { from: 1, to: turn - 1 }))
    noted = notedAfter(noted, stored);
  return noted;
}
