/** `latest` and history: Mozi D1, D2 and D3. */
import { expectModelInputExcludes, expectModelInputIncludes, lastInput } from "#evals/graders/context.ts";
import { expectEqual, expectThat } from "#evals/graders/expect.ts";
import { expectAnswered, expectCode } from "#evals/graders/replies.ts";
import { expectSealsKept, expectTranscriptKept } from "#evals/graders/sessions.ts";
import type { EvalCase } from "#evals/harness/eval-case.ts";
import { callTool } from "#evals/harness/puppet-model.ts";
import type { HistoryTurn, Runner } from "#evals/harness/runner.ts";

/** Three sessions: marigold, foxglove, and the open one that says heliotrope. Gives back the last reply. */
async function threeSessions(runner: Runner, key: string) {
  const first = await runner.send(key, "the first word is marigold");
  await runner.send(key, "/new the second word is foxglove");
  const latest = await runner.send(key, "/new the third word is heliotrope");
  return { first, latest };
}

function recalledBy(turn: HistoryTurn | undefined): HistoryTurn["recalled"] {
  return turn?.recalled ?? [];
}

/** All cases, in the order in which they are shown. */
export const historyCases: readonly EvalCase[] = [
  {
    id: "latest_context_uses_latest_only",
    title: "D1: the model is given the latest session and nothing of the two before it",
    needs: ["modelInputs"],
    async run({ runner, key }) {
      await threeSessions(runner, key());
      await runner.send(key(), "which words did I say?");
      const input = lastInput(runner.modelInputs());
      expectModelInputExcludes(input, ["marigold", "foxglove"]);
      expectModelInputIncludes(input, ["heliotrope", "which words did I say?"]);
    },
  },
  {
    id: "latest_context_receipt_names_latest_only",
    title: "D1: the turn's receipt names the latest session as the only source",
    async run({ runner, key }) {
      const { latest } = await threeSessions(runner, key());
      await runner.send(key(), "which words did I say?");
      const turn = (await runner.history(latest.sessionId)).at(-1);
      expectEqual("the source of the context", turn?.givenSessions, [latest.sessionId]);
    },
  },
  {
    id: "history_recall_requires_explicit_selection",
    title:
      "D2: /recall brings pieces of an archived session into the context, with its rationale; nothing else does",
    async run({ runner, key }) {
      const { first, latest } = await threeSessions(runner, key());
      await runner.send(key(), "tell me about the marigold");
      expectEqual(
        "what was recalled unasked",
        recalledBy((await runner.history(latest.sessionId)).at(-1)),
        [],
      );
      const recall = await runner.send(key(), "/recall marigold");
      expectCode(recall, "recall");
      expectThat(
        recall.text.includes("the first word is marigold"),
        `the recall says ${JSON.stringify(recall.text)}`,
      );
      const [piece] = recalledBy((await runner.history(latest.sessionId)).at(-1));
      expectEqual("the session of the piece", piece?.sessionId, first.sessionId);
      expectThat(
        (piece?.rationale ?? "").includes("/recall marigold"),
        `the rationale is ${JSON.stringify(piece?.rationale)}`,
      );
    },
  },
  {
    id: "history_recall_by_tool_has_rationale",
    title: "D2: the model's own recall is kept with the rationale that it gave",
    needs: ["puppetModel"],
    async run({ runner, key }) {
      const { first, latest } = await threeSessions(runner, key());
      const rationale = "the user asks for the first word";
      const answer = await runner.send(
        key(),
        callTool("session_recall", { query: "first word marigold", rationale }),
      );
      expectAnswered(answer, "marigold");
      const pieces = recalledBy((await runner.history(latest.sessionId)).at(-1));
      const found = pieces.find(({ sessionId }) => sessionId === first.sessionId);
      expectEqual("the rationale of the piece", found?.rationale, rationale);
    },
  },
  {
    id: "history_recall_is_in_later_context",
    title:
      "D2: what /recall brought is in the context of the next message, marked as from an earlier session",
    needs: ["modelInputs"],
    async run({ runner, key }) {
      await threeSessions(runner, key());
      await runner.send(key(), "/recall marigold");
      await runner.send(key(), "so what was it?");
      expectModelInputIncludes(lastInput(runner.modelInputs()), [
        "[session 1, turn 1",
        "marigold",
        "so what was it?",
      ]);
    },
  },
  {
    id: "history_recall_stays_in_its_key",
    title: "D2: /recall finds nothing of another session key",
    async run({ runner, key }) {
      await runner.send(key("other"), "the secret is marigold");
      await runner.send(key("other"), "/new");
      await runner.send(key(), "hello");
      const recall = await runner.send(key(), "/recall marigold");
      expectThat(!recall.text.includes("secret"), `the recall says ${JSON.stringify(recall.text)}`);
    },
  },
  {
    id: "history_segment_immutable",
    title: "D3: later turns, commands, recalls and resumes change nothing in an archived session",
    async run({ runner, key }) {
      const { first } = await threeSessions(runner, key());
      const sessions = await runner.sessions(key());
      const transcript = await runner.history(first.sessionId);
      const later = [
        "more",
        "/title Plans",
        "/recall marigold",
        "/resume 1",
        "and more",
        "/rollover off",
        "/new",
        "the end",
      ];
      for (const text of later) await runner.send(key(), text);
      expectSealsKept(sessions, await runner.sessions(key()));
      expectTranscriptKept(transcript, await runner.history(first.sessionId));
    },
  },
];
