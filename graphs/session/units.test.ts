import { afterEach, describe, expect, it } from "vitest";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import type { ScriptedStep } from "#src/models/testing/scripted-step.ts";
import {
  createHarness,
  echoModel,
  latestOf,
  systemOf,
  type Harness,
  type HarnessOptions,
} from "./testing/harness.ts";

let open: Harness[] = [];

afterEach(async () => {
  await Promise.all(open.map((lily) => lily.close()));
  open = [];
});

async function start(options: HarnessOptions = {}): Promise<Harness> {
  const lily = await createHarness(options);
  open.push(lily);
  return lily;
}

const unitsOf = async (lily: Harness) =>
  (await lily.turns(latestOf(await lily.chain()).sessionId)).map(({ units = [] }) => units);

const CPU = {
  role: "Constraint",
  topic: "deployment environment",
  claim: "The system must run on CPU only.",
  utilityActs: ["verify"],
  phaseScopes: ["kb-plugin", "gs-plugin"],
};

/** A control model that says this. */
const control = (answer: ScriptedStep): ScriptedChatModel => new ScriptedChatModel(() => answer);

const withControl = (answer: ScriptedChatModel, model = echoModel()): HarnessOptions => ({
  model,
  models: { "scripted:control": answer },
  config: { agents: { defaults: { controlModel: "scripted:control" } } },
});

describe("without a control model, the units of a turn", () => {
  it("are the sentences of the user that state something, as they stand", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("Hi! The system must run on CPU only. Is that possible? My server is called Quimbleton.");
    await lily.send("thanks");
    expect(await unitsOf(lily)).toEqual([
      [
        { role: "Statement", topic: "", claim: "The system must run on CPU only." },
        { role: "Statement", topic: "", claim: "My server is called Quimbleton." },
      ],
      [],
    ]);
  });

  it("are none of what the assistant said, of commands, of code or of secrets", async () => {
    const model = new ScriptedChatModel(() => ({ text: "The moon is made of green cheese." }));
    const lily = await start({ model });
    await lily.send("what is the moon made of?");
    await lily.send("/todo the moon is made of cheese");
    await lily.send("/recall moon cheese of the earth");
    await lily.send("```\nconst moon is made of green cheese.\n```");
    await lily.send("The password of my mail is hunter2-Zebra!9.");
    expect((await unitsOf(lily)).flat()).toEqual([]);
  });

  it("are none where the setting is off", async () => {
    const lily = await start({ model: echoModel(), config: { units: { extract: "off" } } });
    await lily.send("The system must run on CPU only.");
    expect((await unitsOf(lily)).flat()).toEqual([]);
  });
});

describe("with a control model, the units of a turn", () => {
  it("are what it makes of the message, in one call beside the reply's, counted for the turn", async () => {
    const model = control({ text: `Here: ${JSON.stringify([CPU])}` });
    const lily = await start(withControl(model));
    await lily.send("Note that the system must run on CPU only");
    await lily.send("thanks");
    expect(await unitsOf(lily)).toEqual([[CPU], []]);
    expect(model.calls).toHaveLength(1);
    const [turn] = await lily.turns(latestOf(await lily.chain()).sessionId);
    expect(turn?.explanation.extracted).toEqual({ by: "scripted:control", tokens: expect.any(Number) });
  });

  it("are none of what nobody said", async () => {
    const made = [
      { ...CPU, claim: "The budget is 500 dollars." },
      { ...CPU, claim: "The system must run on 8 CPU cores." },
      { ...CPU, role: "Opinion" },
      { ...CPU, claim: "" },
      "The system must run on CPU only.",
    ];
    const lily = await start(withControl(control({ text: JSON.stringify(made) })));
    await lily.send("Note that the system must run on CPU only");
    expect((await unitsOf(lily)).flat()).toEqual([]);
  });

  it.each([
    ["fails", { error: new Error("no") }, "the control model failed"],
    ["answers in prose", { text: "I note that." }, "the control model did not answer in the asked form"],
  ] as const)("are none where it %s, and the answer comes all the same", async (_how, step, why) => {
    const lily = await start(withControl(control(step)));
    const reply = await lily.send("The system must run on CPU only.");
    expect(reply.outcome).toBe("answered");
    const [turn] = await lily.turns(latestOf(await lily.chain()).sessionId);
    expect(turn?.units).toBeUndefined();
    expect(turn?.explanation.extracted?.why).toContain(why);
  });

  it("are its sentences where the setting says so", async () => {
    const model = control({ text: "[]" });
    const options = withControl(model);
    const lily = await start({ ...options, config: { ...options.config, units: { extract: "symbolic" } } });
    await lily.send("The system must run on CPU only.");
    expect(model.calls).toHaveLength(0);
    expect((await unitsOf(lily)).flat()).toHaveLength(1);
  });
});

describe("in a prompt, units", () => {
  const small = { limits: { contextTokens: 900 } };
  const noted = (model: ScriptedChatModel): string =>
    /<noted>\n([\s\S]*)\n<\/noted>/u.exec(systemOf(model))?.[1] ?? "";
  const chatter = async (lily: Harness): Promise<void> => {
    for (let turn = 1; turn <= 8; turn += 1) await lily.send(`so ${"and so on ".repeat(25)}${turn}?`);
  };

  it("stand for turns that are not given any more, where they fit what is said, and name their turn", async () => {
    const model = echoModel();
    const lily = await start({ model, config: small });
    await lily.send("My server is called <Quimbleton>. The garden is very green.");
    await lily.send("what is my server called?");
    expect(noted(model)).toBe("");
    await chatter(lily);
    await lily.send("what is my server called?");
    expect(noted(model)).toBe("- [turn 1] My server is called &lt;Quimbleton&gt;.");
    const { sessionId } = latestOf(await lily.chain());
    const turn = (await lily.turns(sessionId)).at(-1);
    expect(turn?.explanation.receipt?.units).toEqual([{ turn: 1, n: 1, because: "fits" }]);
    const why = await lily.send("/why");
    expect(why.envelope.message).toContain("unit 1.1: given because it fits what you said");
    const { data } = (await lily.send(`/why ${turn?.turn} --prompt`)).envelope;
    expect(data).toMatchObject({ isExact: true });
    expect(JSON.stringify(data)).toContain("- [turn 1] My server is called");
  });

  it("are constraints whatever is said, and none of phases that do not answer", async () => {
    const other = { ...CPU, claim: "Plan for the CPU first.", phaseScopes: ["planner-plugin"] };
    const model = echoModel();
    const options = withControl(control({ text: JSON.stringify([CPU, other]) }), model);
    const lily = await start({ ...options, config: { ...options.config, ...small } });
    await lily.send("The system must run on CPU only. Plan for the CPU first.");
    await chatter(lily);
    await lily.send("what about the weather and the CPU?");
    expect(noted(model)).toBe(
      "- [turn 1] Constraint, deployment environment: The system must run on CPU only.",
    );
    await lily.send("hello?");
    expect(noted(model)).toContain("CPU only");
  });
});

describe("the units of a session", () => {
  const held = async (lily: Harness): Promise<string[]> => {
    const { sessionId } = latestOf(await lily.chain());
    const state = await lily.sessions.graph.getState({ configurable: { thread_id: sessionId } });
    return (state.values.session?.units ?? []).map(({ claim }: { claim: string }) => claim);
  };

  it("are committed with their turn, and dropped with one that failed", async () => {
    let fails = true;
    const model = new ScriptedChatModel(() => (fails ? { error: new Error("no") } : { text: "ok" }));
    const lily = await start({ model });
    expect((await lily.send("The system must run on CPU only.")).outcome).toBe("failed");
    fails = false;
    await lily.send("My server is called Quimbleton.");
    expect(await held(lily)).toEqual(["My server is called Quimbleton."]);
  });

  it("are there after the checkpoints are gone, and go with a turn that is erased", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("The system must run on CPU only.");
    await lily.send("My server is called Quimbleton.");
    const { sessionId } = latestOf(await lily.chain());
    await lily.storage.checkpointer.deleteThread(sessionId);
    await lily.send("thanks a lot");
    expect(await held(lily)).toEqual(["The system must run on CPU only.", "My server is called Quimbleton."]);
    await lily.send("/forget Quimbleton --everywhere --yes");
    await lily.send("thanks again");
    expect(await held(lily)).toEqual(["The system must run on CPU only."]);
  });

  it("are not handed on at a rotation; a session that continues another one reads them", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("The system must run on CPU only.");
    await lily.send("/new");
    await lily.send("hello");
    expect(await held(lily)).toEqual([]);
    await lily.send("/rejoin");
    await lily.send("hello");
    expect(await held(lily)).toEqual(["The system must run on CPU only."]);
  });
});
