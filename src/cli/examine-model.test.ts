import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { emptyHome } from "#src/upkeep/testing/make-home.ts";
import {
  startFakeOpenAIServer,
  type FakeBehaviour,
  type FakeOpenAIServer,
} from "#src/models/testing/fake-openai-server.ts";
import { envelopeIn, runLine, type Ran } from "./testing/run-cli.ts";

let server: FakeOpenAIServer;
beforeEach(async () => {
  server = await startFakeOpenAIServer();
});
afterEach(() => server.close());

type Body = Readonly<Record<string, unknown>>;

async function examine(answer: (body: Body) => FakeBehaviour): Promise<Ran> {
  server.always(answer);
  const { folder } = emptyHome();
  const env = { OPENAI_BASE_URL: server.baseURL, OPENAI_MODEL: "m" };
  return runLine(folder, ["doctor", "--model", "--json"], "", env);
}

const text = (...chunks: string[]): FakeBehaviour => ({ kind: "text", chunks });
const refusal = (status: number, message: string): FakeBehaviour => ({
  kind: "status",
  status,
  error: { message },
});
const NUMBERS = Array.from({ length: 150 }, (_, index) => `${index + 1}\n`);

/** A server on which all works. */
function wellBehaved(body: Body): FakeBehaviour {
  const asked = JSON.stringify(body["messages"]);
  if (asked.includes('"role":"tool"')) return text("It is ", "5,555.");
  if ("tools" in body)
    return { kind: "toolCalls", calls: [{ id: "c", name: "add", arguments: '{"a":1234,"b":4321}' }] };
  if (asked.includes("150")) return text(...NUMBERS);
  return asked.includes("lily") ? text("Lily") : text("Mon", "day");
}

const dataSchema = z.object({
  checks: z.array(z.object({ check: z.string(), state: z.string(), found: z.string() })),
});

/** What was found, by the name of the check. */
function found(ran: Ran): Record<string, { readonly state: string; readonly found: string }> {
  const { checks } = dataSchema.parse(envelopeIn(ran).data);
  return Object.fromEntries(checks.map((row) => [row.check.replace("model: ", ""), row]));
}

function states(ran: Ran): Record<string, string> {
  const rows = Object.entries(found(ran)).map(([check, { state }]) => [check, state] as const);
  return Object.fromEntries(rows.filter(([check]) => check !== "model"));
}

describe("lily doctor --model", () => {
  it("shows what works", async () => {
    const ran = await examine(wellBehaved);
    expect(states(ran)).toEqual({
      plain: "ok",
      instructions: "ok",
      streaming: "ok",
      "tool call": "ok",
      "tool result": "ok",
      "long answer": "ok",
    });
    expect(ran.code).toBe(0);
  });

  it("says what a server without tools, streaming and long answers does instead", async () => {
    const ran = await examine((body) => {
      if ("tools" in body) return refusal(400, "m does not support tools");
      if (JSON.stringify(body["messages"]).includes("150"))
        return { kind: "text", chunks: ["1"], finishReason: "length" };
      const whole = { choices: [{ message: { content: "lily" }, finish_reason: "stop" }] };
      return { kind: "body", body: JSON.stringify(whole) };
    });
    expect(states(ran)).toMatchObject({
      plain: "ok",
      streaming: "warn",
      "tool call": "warn",
      "long answer": "warn",
      abilities: "warn",
    });
    expect(found(ran)["abilities"]?.found).toContain("does not support tools");
    expect(ran.code).toBe(0);
  });

  it("shows thoughts that are kept apart", async () => {
    const ran = await examine((body) =>
      "tools" in body ? wellBehaved(body) : text("<think>hm</think>", "lily"),
    );
    expect(found(ran)["plain"]?.found).toContain("thoughts");
  });

  it.each([
    [401, "Incorrect API key provided"],
    [404, "model 'm' not found, try pulling it first"],
  ])(
    "ends after the first question when it is refused with %i, in the server's words",
    async (status, words) => {
      const ran = await examine(() => refusal(status, words));
      expect(states(ran)).toEqual({ plain: "bad" });
      expect(found(ran)["plain"]?.found).toContain(words);
      expect([ran.code, server.requests.length]).toEqual([69, 1]);
    },
  );
});
