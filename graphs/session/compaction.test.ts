import { describe, expect, it } from "vitest";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { summaryNamespace } from "#src/storage/session-items.ts";
import { echoModel, KEY, latestOf, OWNER, type Harness } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();

/** All that the latest call was told by the system. */
function system(model: ScriptedChatModel, call = model.calls.length - 1): string {
  const messages = model.calls[call]?.messages.filter(({ type }) => type === "system") ?? [];
  return messages.map(({ content }) => (typeof content === "string" ? content : "")).join("\n\n");
}

/** The summary in it. */
function summary(model: ScriptedChatModel): string {
  return /<summary>\n([\s\S]*?)\n<\/summary>/u.exec(system(model))?.[1] ?? "";
}

/** Calls in which a control model is asked to shorten; it is asked for other things, too. */
const summaryCalls = (control: ScriptedChatModel) =>
  control.calls.filter(({ messages }) => JSON.stringify(messages[0]).includes("You shorten the older part"));

const FILLER = "and a good deal of small talk about nothing in particular, as people do ".repeat(6);

/** A conversation of turns of which the first says a code. */
async function talk(lily: Harness, turns: number): Promise<void> {
  await lily.send(`The vault code word is ZEBRA-7. ${FILLER}`);
  for (let turn = 2; turn <= turns; turn += 1)
    await lily.send(`${turn === 3 ? "Just one thing" : "One more thing"}, ${FILLER}`);
}

async function stored(lily: Harness) {
  const { sessionId } = latestOf(await lily.chain());
  const ref = { owner: OWNER, sessionKey: KEY, sessionId };
  return lily.storage.store.search(summaryNamespace(ref), { limit: 20 });
}

const SMALL = { limits: { contextTokens: 2_000 } };

/** With a control model, which is asked for summaries alone. */
const CONTROLLED = {
  ...SMALL,
  agents: { defaults: { model: "scripted:test", controlModel: "scripted:control" } },
  units: { extract: "symbolic" },
};

describe("a conversation that outgrows its context", () => {
  it("is told in a summary with what must not be lost, made anew when all are gone; the transcript is as it was", async () => {
    const model = echoModel();
    const lily = await start({ model, config: SMALL });
    await talk(lily, 12);
    expect(summary(model)).toContain("turn 1: “The vault code word is ZEBRA-7.”");
    expect(await lily.turns(latestOf(await lily.chain()).sessionId)).toHaveLength(12);
    expect((await lily.send("/why")).envelope.text).toContain("told in a summary");
    const boundary = await stored(lily);
    expect(boundary).not.toEqual([]);
    for (const { namespace, key } of boundary) await lily.storage.store.delete(namespace, key);
    await lily.restart();
    await lily.send("so?");
    expect(await stored(lily)).not.toEqual([]);
    expect(summary(model)).toContain("turn 1: “The vault code word is ZEBRA-7.”");
  });

  it("is summarised by the control model, asked once for many turns, and not anew in a session that continues it", async () => {
    const model = echoModel();
    const control = new ScriptedChatModel(() => "The vault opens with ZEBRA-7; much small talk.");
    const lily = await start({ model, models: { "scripted:control": control }, config: CONTROLLED });
    await talk(lily, 12);
    expect(summary(model)).toContain("The vault opens with ZEBRA-7; much small talk.");
    expect(summaryCalls(control).length).toBeLessThanOrEqual(3);
    const before = control.calls.length;
    await lily.send("/new");
    await lily.send("/rejoin");
    await lily.send("so?");
    expect(control.calls).toHaveLength(before);
    expect(summary(model)).toContain("The vault opens with ZEBRA-7; much small talk.");
    const given = (): number =>
      model.calls.at(-1)?.messages.filter(({ type }) => type === "human").length ?? 0;
    const first = given();
    await lily.send("and?");
    expect(given()).toBe(first + 1);
  });

  it.each([
    ["fails", () => ({ error: new Error("no") })],
    ["says nothing", () => ""],
    ["writes a novel", () => "word ".repeat(2_000)],
  ])("is summarised in quotations where the control model %s", async (_what, answer) => {
    const model = echoModel();
    const control = new ScriptedChatModel(answer);
    const lily = await start({ model, models: { "scripted:control": control }, config: CONTROLLED });
    await talk(lily, 12);
    expect(summary(model)).toContain("turn 1: “The vault code word is ZEBRA-7.”");
  });

  it("loses an erased turn from its summary too, and what is stored of it", async () => {
    const model = echoModel();
    const lily = await start({ model, config: SMALL });
    await talk(lily, 12);
    expect(summary(model)).toContain("ZEBRA-7");
    await lily.send("/forget ZEBRA-7 --everywhere --yes");
    expect(JSON.stringify(await stored(lily))).not.toContain("ZEBRA");
    await lily.send("so?");
    expect(summary(model)).not.toBe("");
    expect(system(model)).not.toContain("ZEBRA");
    expect(JSON.stringify(await stored(lily))).not.toContain("ZEBRA");
  });

  it("keeps its open tasks before the model, whatever the summary says", async () => {
    const model = echoModel();
    const lily = await start({ model, config: SMALL });
    await lily.send("/todo renew passport C01X");
    await talk(lily, 12);
    expect(system(model)).toContain("1. task: renew passport C01X");
  });

  it("offers facts that leave it to the person's memory, and remembers none by itself", async () => {
    const model = echoModel();
    const control = new ScriptedChatModel(() => "ZEBRA-7.\nFACT: The user owns a vault.");
    const config = {
      ...SMALL,
      memory: { tool: true },
      agents: { defaults: { model: "scripted:test", controlModel: "scripted:control" } },
      units: { extract: "symbolic" },
    };
    const lily = await start({ model, models: { "scripted:control": control }, config });
    await talk(lily, 12);
    expect(system(model)).not.toContain("FACT");
    expect((await lily.send("/memory review")).envelope.text).toContain("The user owns a vault.");
    expect((await lily.send("/memory show")).envelope.text ?? "").not.toContain("vault");
  });
});

describe("/compact", () => {
  it("summarises older turns now, by the instructions, in a committed turn", async () => {
    const model = echoModel();
    const control = new ScriptedChatModel(() => "A vault, its word ZEBRA-7, and talk.");
    const config = {
      agents: { defaults: { model: "scripted:test", controlModel: "scripted:control" } },
      units: { extract: "symbolic" },
    };
    const lily = await start({ model, models: { "scripted:control": control }, config });
    await talk(lily, 8);
    expect(summary(model)).toBe("");
    const reply = await lily.send("/compact keep all codes");
    expect(reply).toMatchObject({
      turn: 9,
      envelope: { code: "compacted", data: { turns: 6, by: "scripted:control", to: { turn: 6 } } },
    });
    expect(JSON.stringify(summaryCalls(control)[0]?.messages)).toContain("The user wishes: keep all codes");
    await lily.restart();
    await lily.send("and now?");
    expect(summary(model)).toContain("A vault, its word ZEBRA-7, and talk.");
    expect(JSON.stringify(model.calls.at(-1)?.messages)).not.toContain("Just one thing");
    await lily.send("/new hello");
    expect(summary(model)).toBe("");
  });

  it("says that there is nothing to do where the turns take no more room than a summary", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("hi");
    expect(await lily.send("/compact")).toMatchObject({ turn: null, envelope: { code: "compact_nothing" } });
    for (const text of ["one", "two", "three"]) await lily.send(text);
    expect(await lily.send("/compact")).toMatchObject({ turn: null, envelope: { code: "compact_nothing" } });
  });

  it("loses its instructions with an erased turn, and the summary is made without them", async () => {
    const model = echoModel();
    const lily = await start({ model });
    await talk(lily, 8);
    await lily.send("/compact above all what Quimbleton Ltd wants");
    await lily.send("/forget Quimbleton Ltd --everywhere --yes");
    await lily.send("so?");
    expect(summary(model)).toContain("ZEBRA-7");
    expect(system(model)).not.toContain("Quimbleton");
  });
});
