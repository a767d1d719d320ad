import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { loadPlugins } from "#src/app/load-plugins.ts";
import { configSchema } from "#src/app/config.ts";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { echoModel, latestOf, systemOf, type Harness } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const open = harnessStarter();
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** A home with plugin files, loaded as a program does. */
async function withFiles(
  files: Readonly<Record<string, string>>,
  options: Parameters<typeof open>[0] = {},
): Promise<Harness> {
  const probe = await open();
  const home = join(probe.folder, "home");
  mkdirSync(home);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(home, name), text);
  const config = configSchema.parse({ plugins: Object.keys(files).map((name) => `./${name}`) });
  const plugins = await loadPlugins({ home, config });
  return open({ ...options, adjust: (deps) => ({ ...deps, plugins }) });
}

const explanationOf = async (harness: Harness) => {
  const turns = await harness.turns(latestOf(await harness.chain()).sessionId);
  return turns.at(-1)?.explanation;
};

describe("a turn on plugins that nobody chose", () => {
  it("calls no model but the one that answers, and stores nothing of its preparation", async () => {
    const control = echoModel();
    const harness = await open({
      model: echoModel(),
      models: { "scripted:control": control },
      config: { agents: { defaults: { controlModel: "scripted:control" } }, units: { extract: "off" } },
    });
    await harness.send("The harbour opens at nine.");
    expect(control.calls).toHaveLength(0);
    const explanation = await explanationOf(harness);
    expect(explanation?.plugins).toBeUndefined();
    expect(explanation?.lookedFor).toBeUndefined();
    expect(explanation?.requestId).toMatch(/^[0-9a-f-]{36}$/u);
  });
});

describe("the order in which a plugin is chosen", () => {
  const chosenIn = async (harness: Harness) => (await explanationOf(harness))?.plugins?.gs;

  it("is session, key, agent, config", async () => {
    const config = { agents: { defaults: { plugins: { gs: "gs-symbolic" } } } };
    const harness = await open({ model: echoModel(), config });
    await harness.send("hello");
    expect(await chosenIn(harness)).toEqual({ name: "gs-symbolic", from: "config" });
    await harness.send("/plugin gs gs-model");
    const reply = await harness.send("hello");
    expect(reply.envelope.message).toBe("hello");
    expect(await chosenIn(harness)).toEqual({ name: "gs-model", from: "session" });
    await harness.send("/plugin gs reset");
    await harness.send("hello");
    expect(await chosenIn(harness)).toEqual({ name: "gs-symbolic", from: "config" });
  });

  it("takes what did its work in a turn of the key where the chosen one fails, also behind a rotation", async () => {
    const harness = await withFiles(
      {
        "tea.mjs": `export default { slot: "planner", name: "tea", description: "looks for tea",
          plan: () => ({ queries: ["tea"], phases: ["gs-plugin"] }) };`,
        "never.mjs": `export default { slot: "planner", name: "never", description: "fails", plan() { throw new Error("no"); } };`,
      },
      { model: echoModel() },
    );
    await harness.send("/plugin planner tea");
    await harness.send("hello");
    await harness.send("/plugin planner never");
    await harness.send("/new");
    const reply = await harness.send("hello");
    expect(reply.notice).toBe("never was not used (no); tea took its place.");
    expect((await explanationOf(harness))?.plugins?.planner).toMatchObject({ name: "tea", from: "key" });
    const { plugins, keyPlugins } = latestOf(await harness.chain()).opened.carried ?? {};
    expect({ plugins, keyPlugins }).toEqual({
      plugins: { planner: "never" },
      keyPlugins: { planner: "tea" },
    });
  });

  it("holds for the next conversation, and after a restart from the transcript alone", async () => {
    const harness = await open({ model: echoModel() });
    await harness.send("/plugin gs gs-symbolic");
    await harness.send("The ferry leaves at six.");
    await harness.restart();
    await harness.send("/new");
    const reply = await harness.send("When does the ferry leave?");
    expect(reply.envelope.message).not.toBe("When does the ferry leave?");
    const { plugins, keyPlugins } = latestOf(await harness.chain()).opened.carried ?? {};
    expect({ plugins, keyPlugins }).toEqual({
      plugins: { gs: "gs-symbolic" },
      keyPlugins: { gs: "gs-symbolic" },
    });
  });
});

describe("the planner that asks the control model", () => {
  const config = { agents: { defaults: { controlModel: "scripted:control" } } };

  it("decides what is looked for", async () => {
    const control = new ScriptedChatModel([
      { text: '{"queries": ["harbour opening hours"], "documents": true}' },
    ]);
    const model = echoModel();
    const harness = await open({ model, models: { "scripted:control": control }, config });
    await harness.send("/remember The harbour opens at nine.");
    await harness.send("/plugin planner planner-model");
    await harness.send("Is it open yet?");
    expect(systemOf(model)).toContain("The harbour opens at nine.");
    const explanation = await explanationOf(harness);
    expect(explanation?.lookedFor).toEqual(["harbour opening hours"]);
    expect(explanation?.plugins?.planner).toEqual({ name: "planner-model", from: "session" });
  });

  it("gives way to the message itself when it answers with something else, and says so", async () => {
    const control = new ScriptedChatModel([{ text: "I would look for boats." }]);
    const harness = await open({ model: echoModel(), models: { "scripted:control": control }, config });
    await harness.send("/plugin planner planner-model");
    const reply = await harness.send("Is it open yet?");
    expect(reply.notice).toBe(
      "planner-model was not used (the control model did not answer in the asked form); planner-default took its place.",
    );
    const explanation = await explanationOf(harness);
    expect(explanation?.lookedFor).toBeUndefined();
    expect(explanation?.plugins?.planner).toMatchObject({ name: "planner-default", from: "built-in" });
    expect((await harness.send("/why")).envelope.text).toContain(
      "| prepared by | planner-default (built-in), planner-model was not used: the control model did not answer",
    );
  });

  it("is refused where there is no control model", async () => {
    const harness = await open({ model: echoModel() });
    const { envelope } = await harness.send("/plugin planner planner-model");
    expect(envelope).toMatchObject({ ok: false, code: "plugin_unavailable" });
    expect((await harness.send("/plugin planner nobody")).envelope.code).toBe("plugin_unknown");
    expect((await harness.send("/plugin door x")).envelope.code).toBe("command_usage");
  });
});

describe("a plugin of a file", () => {
  it("plans, and gives way when it throws or gives something else", async () => {
    const harness = await withFiles(
      {
        "fixed.mjs": `export default { slot: "planner", name: "fixed", description: "always looks for tea",
          plan: () => ({ queries: ["tea"], phases: ["gs-plugin"] }) };`,
        "odd.mjs": `export default [{ slot: "planner", name: "odd", description: "plans nothing", plan: () => ({}) }];`,
        "angry.mjs": `class Angry { slot = "planner"; name = "angry"; description = "throws"; why = "not today";
          plan() { throw new Error(this.why); } } export default new Angry();`,
      },
      { model: echoModel() },
    );
    await harness.send("/plugin planner fixed");
    await harness.send("hello");
    expect((await explanationOf(harness))?.lookedFor).toEqual(["tea"]);
    await harness.send("/plugin planner angry");
    const reply = await harness.send("hello");
    expect(reply.notice).toBe("angry was not used (not today); fixed took its place.");
    expect(reply.envelope.message).toBe("hello");
    expect((await explanationOf(harness))?.plugins?.planner).toMatchObject({ name: "fixed", from: "key" });
    await harness.send("/plugin planner odd");
    expect((await harness.send("hello")).notice).toContain("odd was not used");
  });

  it("answers, and gives way to the built-in solver when it fails", async () => {
    const harness = await withFiles({
      "oracle.mjs": `export default { slot: "gs", name: "oracle", description: "knows",
        solve({ text }) { if (text.includes("?")) return { text: "42" }; throw new Error("no question"); } };`,
    });
    await harness.send("/plugin gs oracle");
    expect((await harness.send("What is it?")).envelope.message).toBe("42");
    const reply = await harness.send("The tide is high.");
    expect(reply.envelope.message).toContain("Noted.");
    expect(reply.notice).toContain("oracle was not used (no question); gs-symbolic took its place.");
  });

  it("gives way when it is late, the solver after thirty seconds", async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    const harness = await withFiles({
      "mute.mjs": `export default { slot: "gs", name: "mute", description: "says nothing",
        solve: () => new Promise(() => globalThis.muteAsked?.()) };`,
    });
    await harness.send("/plugin gs mute");
    const asked = new Promise<void>((resolve) => Object.assign(globalThis, { muteAsked: resolve }));
    const sent = harness.send("The tide is high.");
    await asked;
    vi.advanceTimersByTime(30_000);
    expect((await sent).notice).toContain("mute was not used (it did not end within 30 s)");
  });

  it("is told and left out when it is broken, and the others work", async () => {
    const harness = await withFiles({
      "syntax.mjs": "export default {",
      "empty.mjs": "export const x = 1;",
      "nameless.mjs": `export default { slot: "kb", name: "Nope!", description: "x", search: () => [] };`,
      "lazy.mjs": `export default { slot: "kb", name: "lazy", description: "x" };`,
      "taken.mjs": `export default { slot: "kb", name: "kb-fast", description: "x", search: () => [] };`,
      "good.mjs": `export default { slot: "kb", name: "good", description: "finds nothing", search: async () => [] };`,
    });
    const { envelope } = await harness.send("/plugins");
    const problems = envelope.data?.["problems"] as { path: string; reason: string }[];
    expect(
      problems.map(({ path, reason }) => [path.split("/").at(-1), reason.split(" ").length > 1]),
    ).toEqual([
      ["syntax.mjs", true],
      ["empty.mjs", true],
      ["nameless.mjs", true],
      ["lazy.mjs", true],
      ["taken.mjs", true],
    ]);
    expect(envelope.text).toContain("lazy.mjs: a plugin of slot kb needs a function search.");
    expect((await harness.send("/plugin kb good")).envelope.code).toBe("plugin_set");
  });
});

describe("a knowledge base", () => {
  const filesOf = (texts: Readonly<Record<string, string>>): NonNullable<Parameters<typeof open>[0]> => ({
    adjust: (deps) => ({
      ...deps,
      files: {
        read: async (path) => texts[path] ?? "",
        readBytes: async (path) => ({ path: `/docs/${path}`, bytes: Buffer.from(texts[path] ?? "") }),
        write: async (path) => path,
      },
    }),
  });
  const texts = {
    "ferries.md": "# Ferries\n\nThe ferry to Korpo leaves at 6:40 every morning.\n",
    "tides.md": "# Tides\n\nThe tide at Korpo turns at noon.\n",
  };
  const QUESTION = "When does the ferry to Korpo leave?";

  it("is searched where it is mounted, also in the next conversation, and not where it is not", async () => {
    const model = echoModel();
    const harness = await open({ model, ...filesOf(texts) });
    expect((await harness.send("/kb add Boats ferries.md")).envelope).toMatchObject({ ok: true });
    await harness.send(QUESTION);
    expect(systemOf(model)).toContain("leaves at 6:40");
    expect((await explanationOf(harness))?.receipt?.evidence).toMatchObject([{ kb: "boats" }]);
    expect((await harness.send("/why --prompt")).envelope.text).toContain("leaves at 6:40");
    await harness.send("/new");
    await harness.send(QUESTION);
    expect(systemOf(model)).toContain("leaves at 6:40");
    await harness.send("/kb unmount boats");
    await harness.send(QUESTION);
    expect(systemOf(model)).not.toContain("leaves at 6:40");
    await harness.send("/kb mount boats");
    await harness.restart();
    await harness.send(QUESTION);
    expect(systemOf(model)).toContain("leaves at 6:40");
    await harness.send(QUESTION, { sessionKey: "test:other" });
    expect(systemOf(model)).not.toContain("leaves at 6:40");
  });

  it("is listed with its documents, beside those that belong to none", async () => {
    const harness = await open({ model: echoModel(), ...filesOf(texts) });
    await harness.send("/kb add boats ferries.md");
    await harness.send("/memory evidence ingest tides.md");
    expect((await harness.send("/kb")).envelope.data?.["kbs"]).toEqual([
      { name: "default", documents: 1, mounted: true },
      { name: "boats", documents: 1, mounted: true },
    ]);
    expect((await harness.send("/kb list boats")).envelope).toMatchObject({ code: "kb_documents" });
    expect((await harness.send("/kb mount sea")).envelope).toMatchObject({ ok: false, code: "kb_not_found" });
    expect((await harness.send("/kb unmount sea")).envelope).toMatchObject({
      ok: false,
      code: "kb_not_found",
    });
    expect((await harness.send("/kb add")).envelope.code).toBe("command_usage");
    expect((await harness.send("/memory evidence show")).envelope.data?.["sources"]).toHaveLength(1);
  });

  it("is told of once when it is gone, and is not mounted any more", async () => {
    const harness = await open({ model: echoModel(), ...filesOf(texts) });
    await harness.send("/kb add boats ferries.md");
    const rows = (await harness.send("/kb list boats")).envelope.data?.["sources"] as { id: string }[];
    expect((await harness.send(`/memory evidence forget ${rows[0]?.id}`)).envelope.ok).toBe(true);
    const reply = await harness.send("hello");
    expect(reply.notice).toContain("The knowledge base “boats” has no documents any more");
    expect((await harness.send("hello")).notice).toBeUndefined();
    expect((await harness.send("/kb")).envelope.data?.["kbs"]).toEqual([
      { name: "default", documents: 0, mounted: true },
    ]);
  });

  it("goes with its documents when its name is erased everywhere", async () => {
    const harness = await open({ model: echoModel(), ...filesOf(texts) });
    await harness.send("/kb add wanderlust ferries.md");
    await harness.send("/new");
    await harness.send("/forget wanderlust --everywhere --yes");
    const { store } = harness.storage;
    const left = [
      ...(await store.search(["evidence"], { limit: 1_000 })),
      ...(await store.search(["history"], { limit: 1_000 })),
      ...(await store.search(["sessions"], { limit: 1_000 })),
    ];
    expect(JSON.stringify(left.map(({ namespace, key, value }) => [namespace, key, value]))).not.toContain(
      "wanderlust",
    );
  });
});

describe("a session on a computer with nothing but its CPU", () => {
  it("is prepared, answered with citations, explained and ended; no model and no server is asked", async () => {
    const fetched = vi.spyOn(globalThis, "fetch").mockRejectedValue(new Error("there is no network"));
    const text = "The ferry to Korpo leaves at 6:40 every morning.\n";
    const harness = await open({
      adjust: (deps) => ({
        ...deps,
        // Vectors are made in this process; what has none yet is found by its words.
        searchesByMeaning: true,
        models: { chatModel: () => Promise.reject(new Error("there is no model")) },
        files: {
          read: async () => text,
          readBytes: async (path) => ({ path: `/docs/${path}`, bytes: Buffer.from(text) }),
          write: async (path) => path,
        },
      }),
    });
    const answer = async (content: string): Promise<string> => (await harness.send(content)).envelope.message;
    await harness.send("The system must run on CPU only.");
    await harness.send("/remember I live in Lisbon");
    await harness.send("/kb add boats ferries.md");
    expect(await answer("What must the system run on?")).toMatch(/turn 1[\s\S]*CPU only/u);
    expect(await answer("Where do I live?")).toContain("Lisbon");
    expect(await answer("When does the ferry to Korpo leave?")).toContain("6:40");
    expect(await answer("Who painted the old harbour?")).toMatch(/don.t have that/u);
    expect((await explanationOf(harness))?.plugins).toBeUndefined();
    expect(await answer("/plugins")).toContain("planner-default, sd-symbolic, kb-hybrid, gs-symbolic");
    expect((await harness.send("/explain")).envelope.text).toContain("model calls 0");
    await harness.send("/new");
    expect(await answer("When does the ferry to Korpo leave?")).toContain("6:40");
    expect((await harness.chain()).sessions).toHaveLength(2);
    expect(fetched).not.toHaveBeenCalled();
  });
});
