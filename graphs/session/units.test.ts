import { afterEach, describe, expect, it, vi } from "vitest";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { BUILT_IN_PLUGINS } from "#src/preparation/built-in.ts";
import { withLoaded } from "#src/preparation/plugins.ts";
import type { ScriptedStep } from "#src/models/testing/scripted-step.ts";
import { unitsIn } from "#src/sessions/knowledge-units.ts";
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
  vi.useRealTimers();
  await Promise.all(open.map((lily) => lily.close()));
  open = [];
});

async function start(options: HarnessOptions = {}): Promise<Harness> {
  const lily = await createHarness(options);
  open.push(lily);
  return lily;
}

const unitsOf = async (lily: Harness) =>
  (await lily.turns(latestOf(await lily.chain()).sessionId)).map(unitsIn);

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
    const { envelope } = await lily.send("/plugins");
    expect(envelope.message).not.toContain("sd-");
    expect(envelope.text).toContain("units.extract is off");
    expect((await lily.send("/plugin sd sd-symbolic")).envelope.code).toBe("plugin_unavailable");
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
  ] as const)(
    "are its sentences where it %s, which is said, and the answer comes all the same",
    async (_how, step, why) => {
      const lily = await start(withControl(control(step)));
      const reply = await lily.send("The system must run on CPU only.");
      expect(reply.outcome).toBe("answered");
      expect(reply.notice).toContain(`sd-model was not used (${why}`);
      expect(reply.notice).toContain("sd-symbolic took its place.");
      expect((await unitsOf(lily)).flat().map(({ role }) => role)).toEqual(["Statement"]);
    },
  );

  it("are none where it is late, and the answer waits three seconds at most", async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    const silent = new ScriptedChatModel(() => new Promise(() => undefined));
    const lily = await start(withControl(silent));
    const sent = lily.send("The system must run on CPU only.");
    await vi.waitFor(() => expect(silent.calls).toHaveLength(1));
    vi.advanceTimersByTime(3_000);
    expect((await sent).outcome).toBe("answered");
    const [turn] = await lily.turns(latestOf(await lily.chain()).sessionId);
    expect(turn?.units).toBeUndefined();
    expect(turn?.explanation.extracted?.why).toBe("the control model did not answer within 3 s");
  });

  it("stand in the record of their turn by their place, and not twice", async () => {
    const lily = await start({ model: echoModel() });
    const { sessionId } = await lily.send("Hi! The system must run on CPU only.");
    const [turn] = await lily.turns(sessionId);
    expect(turn?.units).toEqual([{ said: [4, 36] }]);
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

describe("the plugin that takes units", () => {
  const units = async (lily: Harness) => (await unitsOf(lily)).flat().map(({ claim }) => claim);
  const loaded = (extractUnits: unknown): NonNullable<HarnessOptions["adjust"]> => {
    const plugin = { slot: "sd", name: "mine", description: "mine", extractUnits };
    return (deps) => ({ ...deps, plugins: withLoaded(BUILT_IN_PLUGINS, "/x/mine.mjs", plugin) });
  };

  it("is the person's choice", async () => {
    const model = control({ text: JSON.stringify([CPU]) });
    const lily = await start(withControl(model));
    await lily.send("/plugin sd sd-symbolic");
    await lily.send("Note that the system must run on CPU only.");
    expect(await units(lily)).toEqual(["Note that the system must run on CPU only."]);
    expect(model.calls).toHaveLength(0);
  });

  it("may come from a file, and is told what is noted already", async () => {
    const told: unknown[] = [];
    const adjust = loaded(({ text }: { text: string }, { noted }: { noted: string[] }) => {
      told.push(noted);
      return [{ role: "Definition", topic: "words", claim: text }];
    });
    const lily = await start({ model: echoModel(), adjust });
    await lily.send("/plugin sd mine");
    await lily.send("one");
    await lily.send("two");
    expect(await units(lily)).toEqual(["one", "two"]);
    expect(told).toEqual([[], ["one"]]);
  });

  it.each([
    ["throws", () => Promise.reject(new Error("broken"))],
    ["gives no units", () => [{ claim: "x" }]],
  ])("gives way to Lily's own where it %s, which is said", async (_how, extractUnits) => {
    const lily = await start({ model: echoModel(), adjust: loaded(extractUnits) });
    await lily.send("/plugin sd mine");
    const reply = await lily.send("The system must run on CPU only.");
    expect(reply.notice).toMatch(/mine was not used \(.*; sd-symbolic took its place/u);
    expect(await units(lily)).toEqual(["The system must run on CPU only."]);
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
    expect(turn?.explanation.receipt?.units).toEqual([
      { turn: 1, n: 1, because: "fits", score: expect.any(Number) },
    ]);
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

describe("units of turns that leave the context", () => {
  it("stay in the summary of those turns", async () => {
    const model = echoModel();
    const options = withControl(control({ text: JSON.stringify([CPU]) }), model);
    const lily = await start({ ...options, config: { ...options.config, limits: { contextTokens: 2_000 } } });
    await lily.send("Note that the system must run on CPU only");
    for (let turn = 1; turn <= 17; turn += 1) await lily.send(`so ${"and so on ".repeat(45)}${turn}?`);
    expect(systemOf(model)).toMatch(
      /<summary>[\s\S]*noted as constraint: The system must run on CPU only\.[\s\S]*<\/summary>/u,
    );
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

describe("/units", () => {
  const list = async (lily: Harness): Promise<string[]> => {
    const { data = {} } = (await lily.send("/units")).envelope;
    return (data["units"] as { name: string; claim: string }[]).map(({ name, claim }) => `${name} ${claim}`);
  };

  it("lists units with their turn, and drops one", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("The system must run on CPU only. My server is called Quimbleton.");
    const reply = await lily.send("/units");
    expect(reply).toMatchObject({ turn: null, envelope: { code: "units" } });
    expect(reply.envelope.text).toContain(
      "| 1.1 | Statement |  | The system must run on CPU only. | turn 1 |",
    );
    expect((await lily.send("/units drop 1.1")).envelope.code).toBe("unit_dropped");
    expect(await list(lily)).toEqual(["1.2 My server is called Quimbleton."]);
    expect((await lily.send("/units drop 7.1")).envelope).toMatchObject({ ok: false });
  });

  it("writes them out, and reads them into another conversation as they were", async () => {
    const lily = await start(withControl(control({ text: JSON.stringify([CPU]) })));
    await lily.send("Note that the system must run on CPU only");
    const before = (await lily.send("/units")).envelope.data?.["units"] as object[];
    const text = (await lily.send("/units export")).envelope.data?.["text"] as string;
    await lily.send("/new");
    const reply = await lily.send(`/units import ${text}\nnonsense`);
    expect(reply.envelope).toMatchObject({
      code: "units_imported",
      data: { imported: 1, problems: [{ line: 10, problem: expect.any(String) }] },
    });
    expect(reply.envelope.message).toContain("line 10: this is no line of a knowledge unit");
    const after = (await lily.send("/units")).envelope.data?.["units"] as object[];
    expect(after).toEqual(before.map((unit) => ({ ...unit, name: "1.1", turn: 1, n: 1 })));
    expect((await lily.send("/units export")).envelope.data?.["text"]).toBe(text);
    expect((await lily.send(`/units import ${text}`)).envelope).toMatchObject({
      data: { imported: 0, known: 1 },
    });
  });

  it("reads in no secret, and nothing under an id that stands for another claim", async () => {
    const lily = await start({ model: echoModel() });
    const unit = (id: string, claim: string): string =>
      `@${claim.length} ku atomic "${id}"\n@a${claim.length} set $${claim.length} role Fact\n@b${claim.length} set $${claim.length} claim "${claim}"`;
    const secret = unit("s", "The password of my mail is hunter2-Zebra!9.");
    const others = [unit("x", "It rains a lot."), unit("x", "It snows a whole lot.")].join("\n");
    const refused = await lily.send(`/units import ${secret}\n${others}`);
    expect(refused).toMatchObject({ turn: null, envelope: { ok: false } });
    expect(refused.envelope.data).toMatchObject({ imported: 0, problems: [{ line: 1 }, { line: 7 }] });
    const reply = await lily.send(`/units import ${others}`);
    expect(reply.envelope.data).toMatchObject({ imported: 1, problems: [{ line: 4 }] });
    expect(await list(lily)).toEqual(["1.1 It rains a lot."]);
  });

  it("are used no more once their words are forgotten, here and everywhere", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("My dog is called Quimbleton. The system must run on CPU only.");
    await lily.send("/remember My dog is called Quimbleton.");
    await lily.send("/forget dog Quimbleton");
    expect(await list(lily)).toEqual(["1.2 The system must run on CPU only."]);
    expect((await lily.send("/forget system CPU")).envelope.code).toBe("units_dropped");
    expect(await list(lily)).toEqual([]);
    await lily.send("My cat is called Mortimer of Kent.");
    await lily.send("/forget Mortimer --everywhere --yes");
    expect(await list(lily)).toEqual([]);
    const items = await lily.storage.store.search([], { limit: 1_000 });
    expect(JSON.stringify(items.filter(({ namespace }) => namespace[0] === "history"))).not.toContain(
      "Mortimer",
    );
  });
});
