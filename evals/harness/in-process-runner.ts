/** Lily in this process: the real graph on SQLite files of its own, with the puppet model and a clock that is moved. */
import { createHarness, OWNER } from "#graphs/session/testing/harness.ts";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import type { RecordedMessage } from "#src/models/testing/scripted-record.ts";
import { createPuppetModel } from "./puppet-model.ts";
import type { ModelMessage, Runner } from "./runner.ts";
import { sentReply, storedSessions } from "./stored-sessions.ts";

/** Opens a runner on a folder of its own, which closing removes. */
export async function openInProcessRunner(): Promise<Runner> {
  const model = createPuppetModel();
  let verdict = '{"shift": false, "confidence": 1}';
  const judge = new ScriptedChatModel(() => ({ text: verdict }));
  const models = { "scripted:judge-a": judge, "scripted:judge-b": judge };
  const harness = await createHarness({ model, models });
  // A restart opens the store again.
  const stored = (): ReturnType<typeof storedSessions> => storedSessions(harness.sessions.repository, OWNER);
  return {
    name: "in-process",
    can: { clock: true, modelInputs: true, puppetModel: true, restart: true, judges: true, owners: true },
    send: async (sessionKey, text, options = {}) =>
      sentReply(await harness.send(text, { sessionKey, ...options })),
    history: (sessionId) => stored().history(sessionId),
    sessions: (key) => stored().sessions(key),
    verify: (key) => stored().verify(key),
    now: () => harness.clock.now(),
    advanceClock: (ms) => harness.clock.advance(ms),
    modelInputs: () => model.calls.map((call) => call.messages.map(modelMessage)),
    restart: (config) => harness.restart(config),
    judge: (answer) => {
      verdict = answer;
    },
    close: () => harness.close(),
  };
}

function modelMessage({ type, content }: RecordedMessage): ModelMessage {
  return { type, text: typeof content === "string" ? content : JSON.stringify(content) };
}
