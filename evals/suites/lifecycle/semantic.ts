/** A change of topic: Mozi B4, C1 to C4, E1 and E2. */
import { expectEqual, expectThat } from "#evals/graders/expect.ts";
import { expectModelInputIncludes, lastInput } from "#evals/graders/context.ts";
import { expectAnnounced, expectAnswered, expectNotAnnounced } from "#evals/graders/replies.ts";
import {
  expectChain,
  expectRotated,
  expectSameSession,
  latestOf,
  userTexts,
} from "#evals/graders/sessions.ts";
import type { CaseContext, EvalCase } from "#evals/harness/eval-case.ts";
import { MINUTE } from "./time.ts";

const SHIFT = '{"shift": true, "confidence": 0.95}';
const SAME = '{"shift": false, "confidence": 0.95}';
const NEEDS = ["restart", "judges"] as const;

/** Rollover by topic, from the second turn on, decided by the control model `scripted:judge-a`. */
const byTopic = (controlModel?: string, semantic: object = {}): object => ({
  rollover: { semantic: { enabled: true, minTurns: 2, ...semantic } },
  ...(controlModel === undefined ? {} : { agents: { defaults: { controlModel } } }),
});

/** Rollover by topic, decided by the first judge, and two messages about taxes. */
async function aboutTaxes({ runner, key }: CaseContext, semantic: object = {}): Promise<void> {
  await runner.restart(byTopic("scripted:judge-a", semantic));
  runner.judge(SAME);
  await runner.send(key(), "when are my taxes due");
  await runner.send(key(), "which taxes can I deduct");
}

/** The configured control model, and the one that a session chooses. */
const CONFIGURED = { model: "scripted:judge-a", level: "defaults" };
const CHOSEN = { model: "scripted:judge-b", level: "session" };

/** Sends a message, about which `decider` has to decide. */
async function expectDecidedBy(context: CaseContext, text: string, decider: object): Promise<void> {
  await context.runner.send(context.key(), text);
  expectEqual(`who decided about ${JSON.stringify(text)}`, (await lastDecision(context))?.decidedBy, decider);
}

/** The decision about the newest message. */
async function lastDecision({ runner, key }: CaseContext) {
  const turns = await runner.history(latestOf(await runner.sessions(key())).sessionId);
  return turns.at(-1)?.decision;
}

/** All cases, in the order in which they are shown. */
export const semanticCases: readonly EvalCase[] = [
  {
    id: "session_rollover_semantic_high_confidence",
    title: "B4: a change of topic above the threshold opens a new session; one below it does not",
    needs: NEEDS,
    async run(context) {
      const { runner, key } = context;
      await aboutTaxes(context);
      runner.judge('{"shift": true, "confidence": 0.51}');
      const before = await runner.send(key(), "a bicycle");
      expectNotAnnounced(before);
      runner.judge(SHIFT);
      const after = await runner.send(key(), "a bicycle for the mountains");
      expectAnswered(after, "a bicycle for the mountains");
      expectRotated(before, after);
      expectAnnounced(after, "the topic changed");
      expectAnnounced(after, "/rejoin");
      expectChain(await runner.sessions(key()), 2);
    },
  },
  {
    // Field reports RO-16, AX-02, AX-04: what is no answer of the asked form means stay.
    id: "session_rollover_semantic_missing_evidence",
    title: "B4: prose, fences, nothing, another schema or no confidence never end a session",
    needs: NEEDS,
    async run(context) {
      const { runner, key } = context;
      await aboutTaxes(context);
      const answers = [
        "",
        "{}",
        '{"shift":true}',
        '{"shift":"maybe","confidence":1}',
        "Yes, it changed.",
        "[]",
      ];
      for (const answer of answers) {
        runner.judge(answer);
        await runner.send(key(), "a bicycle");
        expectEqual(
          `the finding for ${JSON.stringify(answer)}`,
          (await lastDecision(context))?.topic,
          "unknown",
        );
      }
      expectChain(await runner.sessions(key()), 1);
    },
  },
  {
    id: "control_model_defaults_precedence",
    title: "C1: without an override the model of agents.defaults.controlModel decides",
    needs: NEEDS,
    async run(context) {
      await aboutTaxes(context);
      await expectDecidedBy(context, "and when", CONFIGURED);
    },
  },
  {
    id: "control_model_session_override_precedence",
    title: "C2: the session's override wins over the default, and /control-model reset gives it back",
    needs: NEEDS,
    async run(context) {
      const { runner, key } = context;
      await aboutTaxes(context);
      await runner.send(key(), "/control-model scripted:judge-b");
      await expectDecidedBy(context, "and when", CHOSEN);
      await runner.send(key(), "/control-model reset");
      await expectDecidedBy(context, "and how", CONFIGURED);
    },
  },
  {
    id: "control_model_fallback_deterministic",
    title: "C3: with no control model the built-in classifier decides, the same each time",
    needs: ["restart"],
    async run({ runner, key }) {
      await runner.restart(byTopic());
      const said = [
        "when are my taxes due",
        "which taxes can I deduct",
        "taxes for a car",
        "feed the parrot seeds",
      ];
      const decisions = [];
      for (const name of ["once", "twice"]) {
        for (const text of said) await runner.send(key(name), text);
        const sessions = await runner.sessions(key(name));
        const turns = await Promise.all(sessions.map(({ sessionId }) => runner.history(sessionId)));
        decisions.push(turns.flat().map(({ decision }) => decision));
      }
      expectEqual("the decisions of the second time", decisions[1], decisions[0]);
      const levels = (decisions[0] ?? [])
        .map(({ decidedBy }) => decidedBy?.level)
        .filter((level) => level !== undefined);
      expectThat(levels.length > 0, "nothing was decided");
      expectEqual("the levels", [...new Set(levels)], ["built-in"]);
    },
  },
  {
    // The document has no id for C4.
    id: "control_model_ignores_reply_model",
    title: "C4: choosing another model to answer changes nothing about who decides",
    needs: NEEDS,
    async run(context) {
      const { runner, key } = context;
      await aboutTaxes(context);
      await runner.send(key(), "/model scripted:test");
      await expectDecidedBy(context, "and when", CONFIGURED);
    },
  },
  {
    id: "semantic_rollover_debounce",
    title: "E1: however many messages change the topic, there is one rotation in the cooldown",
    needs: [...NEEDS, "clock"],
    async run(context) {
      const { runner, key } = context;
      await aboutTaxes(context, { minTurns: 1, cooldown: "30m" });
      runner.judge(SHIFT);
      for (const text of ["bicycles", "boats", "birds", "books", "bread"]) {
        await runner.send(key(), text);
        runner.advanceClock(MINUTE);
      }
      expectChain(await runner.sessions(key()), 2);
      runner.advanceClock(30 * MINUTE);
      await runner.send(key(), "bridges");
      expectChain(await runner.sessions(key()), 3);
    },
  },
  {
    id: "semantic_rollover_reversible",
    title: "E2: a wrong change of topic is undone by itself; the model is given all that was said, in order",
    needs: [...NEEDS, "modelInputs"],
    async run(context) {
      const { runner, key } = context;
      await aboutTaxes(context);
      runner.judge(SHIFT);
      await runner.send(key(), "a car");
      runner.judge(SAME);
      const after = await runner.send(key(), "can I deduct a car");
      expectAnnounced(after, "The conversation before goes on");
      const said = ["when are my taxes due", "which taxes can I deduct", "a car", "can I deduct a car"];
      expectModelInputIncludes(lastInput(runner.modelInputs()), said);
      const sessions = await runner.sessions(key());
      expectChain(sessions, 3);
      expectEqual(
        "what is continued",
        latestOf(sessions).continues,
        sessions.slice(0, 2).map((one) => one.sessionId),
      );
      expectEqual("the transcript of the new session", userTexts(await runner.history(after.sessionId)), [
        "can I deduct a car",
      ]);
    },
  },
  {
    id: "semantic_rollover_rejoin",
    title: "E2: /rejoin undoes a change of topic at any time, also after a restart",
    needs: [...NEEDS, "modelInputs"],
    async run(context) {
      const { runner, key } = context;
      await aboutTaxes(context, { cooldown: 0 });
      runner.judge(SHIFT);
      await runner.send(key(), "a car");
      await runner.restart(byTopic("scripted:judge-a", { cooldown: 0 }));
      const after = await runner.send(key(), "/rejoin can I deduct it");
      expectAnswered(after, "can I deduct it");
      const said = ["when are my taxes due", "which taxes can I deduct", "a car", "can I deduct it"];
      expectModelInputIncludes(lastInput(runner.modelInputs()), said);
      expectSameSession(after, await runner.send(key(), "/status"));
    },
  },
];
