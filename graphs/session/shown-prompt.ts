/** Renders the prompt of a committed turn's model call again, for whoever asks what the model was given. */
import type { CommandContext } from "#src/commands/command.ts";
import { withNotesInMessage } from "#src/models/wire/late-notes.ts";
import { turnsOfCall } from "#src/sessions/call-receipt.ts";
import { entryOf, type Chain } from "#src/sessions/chain.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { fromLangChain } from "#src/turns/langchain-messages.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { advance } from "./commit-turn.ts";
import { newFields } from "./locate-session.ts";
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
    const { turn: number, messages, changes } = record;
    const before = await sessionBefore(deps, run, { chain, session }, number);
    const { ledger, units } = changes?.contextFrom === undefined ? before : {};
    const turn = { number, messages, receipt, ledger, units };
    const sources = await readSources(deps, run, { session: before, turn });
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

/** The session as it was before a turn: how it began, with what its commands have changed since. */
async function sessionBefore(
  deps: SessionDeps,
  run: PromptReader,
  { chain, session }: { readonly chain: Chain; readonly session: SessionFields },
  turn: number,
): Promise<SessionFields> {
  const entry = entryOf(chain, session.sessionId);
  if (entry === undefined) return session;
  const began = await newFields(deps, run, { chain, entry });
  const before = await run.repository.readStoredTurns(session, { from: 1, to: turn - 1 });
  return before.reduce((fields, stored) => advance(deps, fields, stored), began);
}
