/** What `/explain` tells of a turn, beside what the model's server and the clock saw. */
import { tool } from "@langchain/core/tools";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { SessionDeps } from "#src/app/session-deps.ts";
import type { Trace, TraceNode } from "#src/explain/trace.ts";
import { traceSchema } from "#src/explain/trace.ts";
import type { Envelope } from "#src/kernel/envelope.ts";
import { createOpenAIChatModels } from "#src/models/openai-chat-models.ts";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { startFakeOpenAIServer, type FakeOpenAIServer } from "#src/models/testing/fake-openai-server.ts";
import { echoModel, type Harness } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();
const call = (id: string, name = "count") => ({ id, name, args: "{}" });
const count = tool(async () => "counted", { name: "count", description: "counts", schema: z.object({}) });
const withCount = (deps: SessionDeps): SessionDeps => ({ ...deps, tools: [count] });

async function explain(lily: Harness, asked = ""): Promise<Envelope> {
  return (await lily.send(`/explain ${asked}`.trim())).envelope;
}

async function traceOf(lily: Harness, asked = ""): Promise<Trace> {
  return traceSchema.parse((await explain(lily, asked)).data?.["trace"]);
}

const named = ({ graph }: Trace, kind: TraceNode["kind"]): string[] =>
  graph.nodes.filter((node) => node.kind === kind).map(({ name, status }) => `${name} ${status}`);

describe("the trace of a turn, beside what the model's server saw", () => {
  let server: FakeOpenAIServer;
  beforeEach(async () => void (server = await startFakeOpenAIServer()));
  afterEach(() => server.close());

  function onServer(config: object = {}): Promise<Harness> {
    return start({
      config: {
        agents: { defaults: { model: "openai:fake-model", fallbacks: ["openai:other"] } },
        ...config,
      },
      adjust: (deps) => ({
        ...withCount(deps),
        priceOf: (model) =>
          model === "openai:fake-model" ? { input: 2, output: 10, currency: "EUR" } : undefined,
        models: createOpenAIChatModels({ apiKey: "test", baseURL: server.baseURL }),
      }),
    });
  }

  it("has a node for each request: answered calls, the tries before them, and the tool between", async () => {
    const lily = await onServer();
    server.enqueue(
      { kind: "status", status: 500 },
      { kind: "toolCalls", calls: [{ id: "a", name: "count", arguments: "{}" }] },
      { kind: "status", status: 429 },
      { kind: "text", chunks: ["it is ", "one"] },
    );
    await lily.send("count");
    const trace = await traceOf(lily);
    const asked = [...named(trace, "model"), ...named(trace, "attempt")];
    expect(asked).toHaveLength(server.requests.length);
    expect(asked).toEqual([
      "openai:fake-model done",
      "openai:fake-model done",
      "openai:fake-model failed",
      "openai:fake-model failed",
    ]);
    expect(named(trace, "tool")).toEqual(["count done"]);
    const tries = trace.graph.edges.filter(({ kind }) => kind === "tries").map(({ from }) => from);
    expect(tries).toEqual(["model-1", "model-2"]);
    expect(trace.totals).toMatchObject({ modelCalls: 2, failedCalls: 2, toolCalls: 1 });
  });

  it("tells the tokens that the server counted, and the cost that they come to", async () => {
    const lily = await onServer();
    server.enqueue({ kind: "text", chunks: ["hello"] });
    await lily.send("hi");
    const trace = await traceOf(lily);
    const node = trace.graph.nodes.find(({ kind }) => kind === "model");
    const { counted, written } = node?.tokens ?? {};
    expect(counted).toBeGreaterThan(0);
    expect(written).toBeGreaterThan(0);
    const amount = ((counted ?? 0) * 2 + (written ?? 0) * 10) / 1_000_000;
    expect(trace.totals).toMatchObject({
      inputTokens: counted,
      outputTokens: written,
      cost: { amount, currency: "EUR" },
    });
  });

  it("counts calls of the control model apart, with their tokens", async () => {
    const lily = await onServer({
      agents: { defaults: { model: "openai:fake-model", controlModel: "openai:control" } },
      units: { extract: "symbolic" },
    });
    await lily.send("/plugin planner planner-model");
    server.enqueue(
      { kind: "text", chunks: ['{"queries": ["harbour"], "documents": false}'] },
      { kind: "text", chunks: ["at nine"] },
    );
    await lily.send("is it open?");
    const { graph, totals } = await traceOf(lily);
    const [asked] = graph.nodes.filter(({ kind }) => kind === "control");
    expect(asked).toMatchObject({ name: "openai:control", text: "what to look for" });
    expect(asked?.controlTokens).toBeGreaterThan(0);
    expect(totals).toMatchObject({ modelCalls: 1, controlCalls: 1, controlTokens: asked?.controlTokens });
    expect((await explain(lily)).message).toContain("control calls 1");
  });

  it("says that the cost of a fallback without a price is unknown", async () => {
    const lily = await onServer();
    server.enqueue({ kind: "status", status: 401 }, { kind: "text", chunks: ["from the other"] });
    await lily.send("hi");
    const trace = await traceOf(lily);
    expect(named(trace, "model")).toEqual(["openai:other done"]);
    expect(named(trace, "attempt")).toEqual(["openai:fake-model failed"]);
    expect(trace.totals.cost).toBeNull();
    expect((await explain(lily)).text).toContain("cost unknown");
  });
});

describe("the trace of a turn", () => {
  it("tells when each step began and how long it took, by the clock of the turn", async () => {
    let lily: Harness | undefined;
    const model = new ScriptedChatModel(() => {
      lily?.clock.advance(340);
      return "done";
    });
    lily = await start({ model });
    await lily.send("hi");
    const { graph, totals } = await traceOf(lily);
    expect(graph.nodes.find(({ kind }) => kind === "model")).toMatchObject({ startMs: 0, ms: 340 });
    expect(graph.nodes.find(({ name }) => name === "commit")).toMatchObject({ startMs: 340, ms: null });
    expect(totals.ms).toBe(340);
  });

  it("tells which tools ran, which failed, and which a limit did not let run", async () => {
    const broken = tool(
      async () => {
        throw new Error("out of order");
      },
      { name: "broken", description: "breaks", schema: z.object({}) },
    );
    const model = new ScriptedChatModel([{ toolCalls: [call("a"), call("b", "broken"), call("c")] }, "well"]);
    const lily = await start({
      model,
      adjust: (deps) => ({ ...deps, tools: [count, broken] }),
      config: { limits: { toolCalls: 2 } },
    });
    await lily.send("count");
    const trace = await traceOf(lily);
    expect(trace.status).toBe("limited");
    expect(named(trace, "tool")).toEqual(["count done", "broken failed", "count notRun"]);
    expect(trace.totals.toolCalls).toBe(2);
  });

  it("is the same for the same state, configuration and script, but for times and ids", async () => {
    const unit = { role: "Constraint", topic: "", claim: "My bike must fit under the desk." };
    const twice = [];
    for (const pauseMs of [0, 777]) {
      const model = new ScriptedChatModel([{ toolCalls: [call("a")] }, ...Array<string>(9).fill("so it is")]);
      const lily = await start({
        model,
        adjust: withCount,
        models: { "scripted:control": new ScriptedChatModel(() => JSON.stringify([unit])) },
        config: {
          agents: { defaults: { controlModel: "scripted:control" } },
          limits: { contextTokens: 900 },
        },
      });
      lily.clock.advance(pauseMs);
      await lily.send("/remember My bike is a red Brompton");
      await lily.send("count my bike, it must fit under the desk");
      for (let turn = 3; turn <= 9; turn += 1) await lily.send(`so ${"and so on ".repeat(25)}${turn}?`);
      await lily.send("where does my bike fit?");
      const traces = [];
      for (let turn = 2; turn <= 10; turn += 1)
        traces.push(withoutTimesAndIds(await traceOf(lily, `${turn}`)));
      twice.push(traces);
    }
    expect(twice[0]).toEqual(twice[1]);
    for (const part of ['"kind":"tool"', '"kind":"control"', "unit 2.1", "fact"])
      expect(twice[0]?.join("\n")).toContain(part);
  });

  it("has a node for each call of the control model: topic, knowledge units, summaries", async () => {
    const model = echoModel();
    let lily: Harness | undefined;
    const control = new ScriptedChatModel(() => {
      lily?.clock.advance(20);
      return "[]";
    });
    lily = await start({
      model,
      models: { "scripted:control": control },
      config: {
        agents: { defaults: { model: "scripted:test", controlModel: "scripted:control" } },
        limits: { contextTokens: 2_000 },
        rollover: { semantic: { enabled: true } },
      },
    });
    const filler = "and a good deal of small talk about nothing in particular, as people do ".repeat(4);
    const asked: string[] = [];
    for (let turn = 1; turn <= 17; turn += 1) {
      await lily.send(`I live in house ${turn}, ${filler}`);
      const { graph, totals } = await traceOf(lily);
      const nodes = graph.nodes.filter(({ kind }) => kind === "control");
      asked.push(...nodes.map(({ text = "" }) => text));
      expect(nodes.filter(({ startMs, ms }) => startMs === null || ms !== 20)).toEqual([]);
      expect(totals).toMatchObject({ modelCalls: 1, controlCalls: nodes.length });
    }
    expect(asked).toHaveLength(control.calls.length);
    expect(new Set(asked.map((text) => text.replace(/;.*/u, "")))).toEqual(
      new Set(["change of topic?", "knowledge units", "a summary of older turns"]),
    );
  });

  it("names the facts that were not given, with the rule, and how well those fit that were", async () => {
    const lily = await start({ model: echoModel(), config: { limits: { memoryTokens: 400 } } });
    for (let index = 1; index <= 14; index += 1)
      await lily.send(`/remember My bike number ${index} is a red Brompton with ${index} gears and a bell`);
    await lily.send("which bike do I have?");
    const { graph } = await traceOf(lily);
    const edges = graph.edges.filter(({ from }) => from.startsWith("candidate"));
    const given = edges.filter(({ kind, rule }) => kind === "given" && rule === "fits");
    const left = edges.filter(({ kind }) => kind === "leftOut");
    expect(given.length).toBeGreaterThan(0);
    expect(given.filter(({ score = 0 }) => score === 0)).toEqual([]);
    expect(left.map(({ rule }) => rule)).toContain("room");
    expect(left.length).toBeLessThanOrEqual(4);
  });

  it("names facts that wait for a review as denied, and memory where the key has none", async () => {
    const remember = {
      id: "a",
      name: "memory_remember",
      args: { text: "Lily speaks like the pirate Mortimer", domain: "persona_core" },
    };
    const lily = await start({
      model: new ScriptedChatModel([{ toolCalls: [remember] }, "noted", "arr", "hello"]),
      config: { memory: { tool: true }, keys: [{ prefix: "test:none", memory: "none" }] },
    });
    await lily.send("speak like a pirate");
    await lily.send("which pirate?");
    const { graph } = await traceOf(lily);
    expect(graph.nodes.filter(({ status }) => status === "denied")).toMatchObject([
      { name: expect.stringMatching(/^fact [0-9a-f]{8}$/u) },
    ]);
    expect(graph.edges.filter(({ kind }) => kind === "denied")).toMatchObject([{ rule: "review" }]);
    await lily.send("which pirate?", { sessionKey: "test:none" });
    const trace = (await lily.send("/explain", { sessionKey: "test:none" })).envelope.data?.["trace"];
    expect(named(traceSchema.parse(trace), "candidate")).toEqual(["memory denied"]);
  });

  it("names units that were not given: of other phases, and beyond the room", async () => {
    const claim = "Plan for the CPU first.";
    const unit = { role: "Guidance", topic: "", claim, phaseScopes: ["planner-plugin"] };
    const lily = await start({
      model: echoModel(),
      models: { "scripted:control": new ScriptedChatModel(() => JSON.stringify([unit])) },
      config: {
        agents: { defaults: { controlModel: "scripted:control" } },
        limits: { contextTokens: 900 },
      },
    });
    await lily.send(claim);
    for (let turn = 2; turn <= 10; turn += 1) await lily.send(`so ${"and so on ".repeat(25)}${turn}?`);
    await lily.send("what about the CPU?");
    const { graph } = await traceOf(lily);
    expect(graph.nodes.find(({ name }) => name === "unit 1.1")).toMatchObject({ status: "denied" });
  });

  it("names units that the policy refused, with the rule", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("The password of my mail is hunter2-Zebra!9. My server is called Quimbleton.");
    const { graph } = await traceOf(lily);
    expect(graph.nodes.filter(({ status }) => status === "denied")).toMatchObject([
      { kind: "candidate", name: "units of this message" },
    ]);
    expect(graph.edges.filter(({ kind }) => kind === "denied")).toMatchObject([
      { rule: "password", count: 1, to: "model-1" },
    ]);
  });

  it("names passages that were found and not given, with the rule", async () => {
    const book = ["tea", "cake", "milk", "sugar", "honey"]
      .map(
        (what) => `# Refunds of ${what}\n\nThe refund policy for ${what} is thirty days; ${"x ".repeat(80)}`,
      )
      .join("\n\n");
    const lily = await start({
      model: echoModel(),
      adjust: (deps) => ({
        ...deps,
        files: {
          read: async () => book,
          readBytes: async (path) => ({ path: `/home/ada/${path}`, bytes: Buffer.from(book) }),
          write: async (path) => path,
        },
      }),
    });
    await lily.send("/memory evidence ingest policy.md");
    await lily.send("what is the refund policy for tea?");
    const { graph } = await traceOf(lily);
    const passages = graph.nodes.filter(({ name }) => name.startsWith("passage"));
    expect(passages.filter(({ status }) => status === "given").length).toBeGreaterThan(0);
    expect(passages.filter(({ status }) => status === "leftOut").length).toBeGreaterThan(0);
    expect((await explain(lily)).text).toMatch(/\| passage \d of \w+ \| left out \| (?:most|weak|room) \|/u);
  });

  it("names the plugins that somebody chose, and what an answer without a model rests on", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("/remember I live in Lisbon");
    await lily.send("/plugin gs gs-symbolic");
    await lily.send("where do I live?");
    const { graph } = await traceOf(lily);
    const context = graph.nodes.find(({ name }) => name === "assembleContext");
    expect(context?.text).toContain("gs-symbolic (session)");
    expect(graph.edges.filter(({ rule }) => rule === "rests on")).toMatchObject([
      { to: "reply-1", kind: "given" },
    ]);
    expect(graph.nodes.find(({ name }) => name === "symbolic")).toBeDefined();
  });

  it("takes no more than a few bytes a step", async () => {
    const lily = await start({ model: echoModel() });
    const { sessionId } = await lily.send("hi");
    const [turn] = await lily.turns(sessionId);
    expect(JSON.stringify(turn?.explanation.steps).length).toBeLessThan(150);
  });

  it("has no step of a command that was given beside it", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("one");
    await lily.send("/status");
    await lily.send("two");
    const { graph } = await traceOf(lily);
    expect(graph.nodes.map(({ name }) => name).filter((name) => name === "admit")).toHaveLength(1);
  });
});

describe("the trace of a stopped turn", () => {
  it("has the call that was cut off, and no time after it", async () => {
    const stop = new AbortController();
    const lily = await start({
      model: new ScriptedChatModel(() => {
        stop.abort();
        return { chunks: ["half an ", "answer"], delayMs: 1 };
      }),
    });
    await lily.send("hi", { stop: stop.signal });
    const trace = await traceOf(lily);
    expect(trace.status).toBe("stopped");
    expect(trace.graph.nodes.filter(({ status }) => status === "stopped").map(({ kind }) => kind)).toContain(
      "reply",
    );
  });
});

describe("a trace to keep", () => {
  const EVIL = `<script>alert("x")</script> "]; click n1 | \`\`\` <img src=x>`;

  it("is a page of HTML that needs nothing else, in which all that was said is escaped", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send(EVIL);
    const html = String((await explain(lily, "--export html")).data?.["text"]);
    expect(html).toMatch(/^<!doctype html>/u);
    expect(html).not.toMatch(/<script|<img|https?:/u);
    expect(html).toContain("&#60;script&#62;");
  });

  it("is a Mermaid diagram in which what was said is text alone", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send(EVIL);
    const text = String((await explain(lily, "--export mermaid")).data?.["text"]);
    expect(text).toMatch(/^flowchart TD\n {2}n1\["your message: “#60;script#62;/u);
    for (const line of text.split("\n").slice(1))
      expect(line).toMatch(
        /^ {2}n\d+(?:\["[^"<>`|;\]]*(?:#\d+;[^"<>`|;\]]*)*"\]|\(\[".*"\]\)| (?:-->|-\.->).*)$/u,
      );
  });

  it("is refused in another form", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("hi");
    expect(await explain(lily, "--export pdf")).toMatchObject({ ok: false, code: "command_usage" });
    expect(await explain(lily, "9")).toMatchObject({ ok: false, code: "turn_not_found" });
    expect(await explain(lily, "soon")).toMatchObject({ ok: false, code: "command_usage" });
  });
});

describe("/explain and /why", () => {
  it("name the same facts, turns and models", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("/remember My bike is a red Brompton");
    await lily.send("good morning");
    await lily.send("which bike do I have?");
    const why = (await lily.send("/why")).envelope.message;
    const trace = await traceOf(lily);
    const candidates = trace.graph.nodes.filter(({ kind }) => kind === "candidate");
    expect(candidates.map(({ name }) => name.split(" ")[0])).toEqual(["fact", "turn"]);
    for (const { name } of candidates) expect(why).toContain(name);
    expect((await explain(lily)).data?.["headline"]).toBe(why.split("\n")[0]);
  });

  it("say that a turn was erased, and no more", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("the code is zebra-17");
    await lily.send("/forget zebra-17 --everywhere --yes");
    expect(JSON.stringify(await explain(lily, "1"))).not.toContain("zebra");
    expect((await explain(lily, "1")).message).toContain("erased");
  });
});

/** A trace with what two runs of the same may differ in taken out. */
function withoutTimesAndIds(trace: Trace): string {
  const text = JSON.stringify(trace, (key, value: unknown) =>
    ["startMs", "ms", "startedAt", "endedAt", "sessionId", "requestId", "deliveryId"].includes(key)
      ? undefined
      : value,
  );
  return text.replaceAll(/\bfact [0-9a-f]{8}\b/gu, "fact").replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d/gu, "then");
}

describe("the trace of a turn that failed", () => {
  const boom = (at: number) =>
    new ScriptedChatModel((_messages, index) => (index === at ? { error: new Error("boom") } : "fine"));

  it("names the step and the failure, with what the call was to be given", async () => {
    const lily = await start({ model: boom(1) });
    await lily.send("one");
    await lily.send("two");
    const trace = await traceOf(lily);
    expect(trace).toMatchObject({ status: "failed", turn: null, code: "model_failed" });
    expect(named(trace, "model")).toEqual(["scripted:test failed"]);
    expect(named(trace, "candidate")).toEqual(["turn 1 of this session given"]);
    expect(named(trace, "reply")).toEqual([]);
    expect((await explain(lily)).text).toContain("model_failed");
  });

  it("is reached by its place among those that failed, also by /why, whatever came after it", async () => {
    const model = new ScriptedChatModel((messages) =>
      JSON.stringify(messages.at(-1)?.content).includes("bad") ? { error: new Error("boom") } : "fine",
    );
    const lily = await start({ model });
    for (const text of ["bad one", "bad two", "good"]) {
      lily.clock.advance(1_000);
      await lily.send(text);
    }
    const messageOf = async (asked: string) => (await traceOf(lily, asked)).graph.nodes[0]?.text;
    expect(await messageOf("failed")).toBe("“bad two”");
    expect(await messageOf("failed 2")).toBe("“bad one”");
    expect(await explain(lily, "failed 3")).toMatchObject({ ok: false, code: "turn_not_found" });
    const why = (await lily.send("/why failed 2")).envelope;
    expect(why).toMatchObject({ code: "failure_explained", message: expect.stringContaining("bad one") });
  });
});
