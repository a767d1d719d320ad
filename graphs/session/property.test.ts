import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import type { LifecycleMode } from "#src/sessions/rollover-policy.ts";
import type { TopicEvidence } from "#src/sessions/decide-rollover.ts";
import type { Chain } from "#src/sessions/chain.ts";
import { verifyOwner } from "#src/sessions/verify.ts";
import { createHarness, inputOf, OWNER, type Harness } from "./testing/harness.ts";
import { failingPuts } from "./testing/failing-store.ts";

const HOUR = 3_600_000;

type Step =
  | {
      readonly kind:
        | "message"
        | "new"
        | "newText"
        | "resume"
        | "rejoin"
        | "rejoinText"
        | "restart"
        | "modelFails"
        | "status"
        | "title"
        | "redeliver";
    }
  | { readonly kind: "resumeNumber"; readonly number: number }
  | { readonly kind: "topic"; readonly says: TopicEvidence }
  | { readonly kind: "mode"; readonly mode: LifecycleMode }
  | { readonly kind: "crash"; readonly node: string; readonly text: string }
  | { readonly kind: "clock"; readonly hours: number }
  | {
      readonly kind: "writeFails";
      readonly label: "history" | "sessions" | "deliveries";
      readonly when: "before" | "after";
    };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Step>({ kind: "message" }) },
  { weight: 2, arbitrary: fc.constantFrom<Step>({ kind: "new" }, { kind: "newText" }, { kind: "resume" }) },
  { weight: 2, arbitrary: fc.constantFrom<Step>({ kind: "rejoin" }, { kind: "rejoinText" }) },
  { weight: 3, arbitrary: topicEvidence().map<Step>((says) => ({ kind: "topic", says })) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom<LifecycleMode>("segmented", "segmented", "legacy")
      .map<Step>((mode) => ({ kind: "mode", mode })),
  },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 1, max: 5 }).map<Step>((number) => ({ kind: "resumeNumber", number })),
  },
  { weight: 2, arbitrary: fc.integer({ min: -3, max: 30 }).map<Step>((hours) => ({ kind: "clock", hours })) },
  { weight: 2, arbitrary: fc.constant<Step>({ kind: "redeliver" }) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        fc.constantFrom("decideRollover", "rotate", "assembleContext", "callModel", "commit"),
        fc.constantFrom("", "/new ", "/title "),
      )
      .map<Step>(([node, text]) => ({ kind: "crash", node, text })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Step>(
      { kind: "restart" },
      { kind: "modelFails" },
      { kind: "status" },
      { kind: "title" },
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom("history" as const, "sessions" as const, "deliveries" as const),
        fc.constantFrom("before" as const, "after" as const),
      )
      .map<Step>(([label, when]) => ({ kind: "writeFails", label, when })),
  },
);

/** Right or wrong at random: whatever is said, nothing may be lost or doubled. */
function topicEvidence(): fc.Arbitrary<TopicEvidence> {
  return fc.oneof(
    fc.constant<TopicEvidence>({ kind: "unknown", why: "the control model is down" }),
    fc
      .tuple(fc.constantFrom("same" as const, "shift" as const), fc.constantFrom(0.5, 0.9, 1))
      .map<TopicEvidence>(([kind, confidence]) => ({ kind, confidence })),
  );
}

/** What the test knows beside the product: every delivery, and whether it was acknowledged. */
interface World {
  readonly lily: Harness;
  readonly model: ScriptedChatModel;
  readonly failing: ReturnType<typeof failingPuts>;
  readonly deliveries: { readonly id: string; readonly text: string; acknowledged: boolean }[];
  failModel: boolean;
  label: string;
  /** What the classifier says of every message. */
  topic: TopicEvidence;
}

const ROLLOVER = { semantic: { enabled: true, minTurns: 1, cooldown: 0 } };

async function openWorld(): Promise<World> {
  const world: Partial<World> & Pick<World, "failModel" | "label" | "topic"> = {
    failModel: false,
    label: "history",
    topic: { kind: "same", confidence: 1 },
  };
  const model = new ScriptedChatModel((messages) => {
    if (world.failModel) return { error: new Error("the model is down") };
    return `re: ${messages.at(-1)?.text ?? ""}`;
  });
  const failing = failingPuts((namespace) => namespace[0] === world.label);
  const lily = await createHarness({
    model,
    wrapStorage: failing.wrap,
    topics: { classify: async () => world.topic },
    config: { rollover: ROLLOVER },
  });
  return Object.assign(world, { lily, model, failing, deliveries: [] });
}

async function deliver(world: World, text: string): Promise<void> {
  const delivery = { id: `d${world.deliveries.length}`, text, acknowledged: false };
  world.deliveries.push(delivery);
  const calls = world.model.calls.length;
  const reply = await world.lily.send(text, { deliveryId: delivery.id });
  delivery.acknowledged =
    reply.outcome === "answered" || reply.outcome === "rotated" || reply.outcome === "command";
  if (reply.outcome === "answered" && !reply.repeated && world.model.calls.length > calls)
    await checkInput(world);
}

async function perform(world: World, next: Step): Promise<void> {
  const name = `m${world.deliveries.length}`;
  switch (next.kind) {
    case "message":
      return deliver(world, name);
    case "new":
      return deliver(world, "/new");
    case "newText":
      return deliver(world, `/new ${name}`);
    case "resume":
      return deliver(world, "/resume");
    case "rejoin":
      return deliver(world, "/rejoin");
    case "rejoinText":
      return deliver(world, `/rejoin ${name}`);
    case "topic":
      world.topic = next.says;
      return undefined;
    case "mode":
      return world.lily.restart({ rollover: ROLLOVER, lifecycle: { mode: next.mode } });
    case "resumeNumber":
      return deliver(world, `/resume ${next.number}`);
    case "title":
      return deliver(world, `/title ${name}`);
    case "status":
      await world.lily.send("/status");
      return undefined;
    case "clock":
      if (next.hours >= 0) world.lily.clock.advance(next.hours * HOUR);
      else world.lily.clock.set(world.lily.clock.now() + next.hours * HOUR);
      return undefined;
    case "crash":
      return crash(world, next.node, `${next.text}${name}`);
    case "redeliver":
      return redeliver(world);
    case "restart":
      return world.lily.restart();
    case "modelFails":
      world.failModel = true;
      await deliver(world, name);
      world.failModel = false;
      return undefined;
    case "writeFails":
      world.label = next.label;
      world.failing.arm(next.when);
      await deliver(world, name);
      world.failing.disarm();
      return undefined;
  }
}

/** The run of a delivery is killed before a node; the sender was told nothing. */
async function crash(world: World, node: string, text: string): Promise<void> {
  const chain = await world.lily.sessions.repository.readChain({ owner: OWNER, sessionKey: "test:main" });
  if (chain === undefined) return deliver(world, text);
  const deliveryId = `d${world.deliveries.length}`;
  world.deliveries.push({ id: deliveryId, text, acknowledged: false });
  return world.lily.crashBefore(node, { threadId: chain.latest, deliveryId, text });
}

/** Every earlier delivery once more: what was acknowledged is answered from what is stored. */
async function redeliver(world: World): Promise<void> {
  for (const delivery of world.deliveries.slice(-4)) {
    const calls = world.model.calls.length;
    const reply = await world.lily.send(delivery.text, { deliveryId: delivery.id });
    if (delivery.acknowledged && reply.outcome === "answered") expect(world.model.calls.length).toBe(calls);
    delivery.acknowledged ||=
      reply.outcome === "answered" || reply.outcome === "rotated" || reply.outcome === "command";
  }
}

const bare = (text: string): string => text.replace(/^\/(?:new|rejoin) ?/u, "");

async function checkAll(world: World): Promise<void> {
  const { lily } = world;
  const chain = await lily.sessions.repository.readChain({ owner: OWNER, sessionKey: "test:main" });
  if (chain === undefined) return;
  const unsealed = chain.sessions.filter((entry) => entry.sealed === undefined);
  expect(unsealed.map((entry) => entry.sessionId)).toEqual([chain.latest]);
  expect(await verifyOwner(lily.sessions.repository, OWNER)).toMatchObject({ ok: true, problems: [] });

  const stored: string[] = [];
  for (const entry of chain.sessions) {
    for (const turn of await lily.turns(entry.sessionId)) {
      stored.push(turn.deliveryId);
      if (turn.status === "completed")
        expect(turn.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    }
  }
  expect(new Set(stored).size).toBe(stored.length);
  const owed = world.deliveries.filter(
    ({ acknowledged, text }) => acknowledged && bare(text) !== "" && !text.startsWith("/resume"),
  );
  for (const { id } of owed) expect(stored).toContain(id);
}

/**
 * The model was given the turns of `latest` and of what it continues, in order, and nothing else; of a session that was
 * cleared in place, what came since.
 */
async function checkInput({ lily, model }: World): Promise<void> {
  const chain = await lily.chain();
  const own = await lily.turns(chain.latest);
  const clearedAt = own.findLast(({ changes }) => changes?.contextFrom !== undefined)?.changes?.contextFrom;
  const past = clearedAt === undefined ? pastOf(chain, chain.latest) : [chain.latest];
  const expected: string[] = [];
  for (const sessionId of past) {
    for (const turn of await lily.turns(sessionId)) {
      if (turn.kind === "chat" && turn.turn >= (clearedAt ?? 1))
        expected.push(
          ...turn.messages.map(({ role, content }) => `${role === "user" ? "human" : "ai"}: ${content}`),
        );
    }
  }
  expect(inputOf(model)).toEqual(expected.slice(0, -1));
}

/** Written again here, and simpler, so that a fault of the product's own is not shared. */
function pastOf(chain: Chain, sessionId: string): string[] {
  const entry = chain.sessions.find((candidate) => candidate.sessionId === sessionId);
  return [...new Set([...(entry?.continues ?? []).flatMap((earlier) => pastOf(chain, earlier)), sessionId])];
}

describe("any sequence of messages, clocks, commands, redeliveries, restarts and failures", () => {
  const seed = Number(process.env["LILY_SEED"] ?? 20260301);
  const numRuns = Number(process.env["LILY_RUNS"] ?? 12);

  it(
    "keeps one latest, true seals, each message in one transcript, and model inputs from latest alone",
    { timeout: 600_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
          const world = await openWorld();
          try {
            for (const next of steps) {
              await perform(world, next);
              await checkAll(world);
            }
          } finally {
            await world.lily.close();
          }
        }),
        { seed, numRuns, endOnFailure: process.env["LILY_SHRINK"] === undefined },
      );
    },
  );
});
