/** What a person sees of persona, skills, agents and manner, and what changes them: named commands, each its own field alone. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { agentHomes, skillText } from "./testing/agent-home.ts";
import { createHarness, echoModel, type Harness } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();
const homeWith = agentHomes();

const FILES = {
  "persona/SOUL.md": "You speak like a sailor.\nYou are kind.",
  "agents/coder/SOUL.md": "You write code.",
  "skills/tea/SKILL.md": skillText("tea", "Warm the pot.", "Makes tea."),
};

async function open(config: object = {}) {
  const model = echoModel();
  const home = homeWith(FILES);
  const lily = await start({ model, config, ...home });
  await lily.send("hello");
  const system = (): string => {
    const content = model.calls.at(-1)?.messages[0]?.content;
    return typeof content === "string" ? content : "";
  };
  return { lily, home, model, system };
}

/** The session's fields, without those that every committed turn moves. */
async function fieldsOf(lily: Harness): Promise<Partial<SessionFields>> {
  const state = await lily.sessions.graph.getState({
    configurable: { thread_id: (await lily.chain()).latest },
  });
  const { session } = state.values as { session: SessionFields };
  const {
    turns: _turns,
    head: _head,
    lastActivityAt: _last,
    expiresAt: _expires,
    firstActivityAt: _first,
    ...rest
  } = session;
  return rest;
}

const dataOf = async (lily: Harness, text: string) => (await lily.send(text)).envelope.data ?? {};

describe("/reload_persona", () => {
  it("shows what differs, and gives this session the files as they are now", async () => {
    const { lily, home, system } = await open();
    home.put("persona/SOUL.md", "You speak like a pilot.\nYou are kind.");
    home.put("persona/AGENTS.md", "Be quick.");
    const { envelope, turn } = await lily.send("/reload_persona");
    expect(turn).toBe(2);
    expect(envelope).toMatchObject({ ok: true, code: "persona_reloaded" });
    expect(envelope.text).toContain("**AGENTS.md** is new.");
    expect(envelope.text).toContain("-You speak like a sailor.\n+You speak like a pilot.\n You are kind.");
    await lily.send("hello");
    expect(system()).toContain("pilot");
    await lily.restart();
    await lily.send("hello");
    expect(system()).toContain("pilot");
  });

  it("changes nothing, and commits nothing, where the files are as they were read", async () => {
    const { lily } = await open();
    expect(await lily.send("/reload_persona")).toMatchObject({
      turn: null,
      envelope: { code: "persona_same" },
    });
    expect(await lily.send("/reload_skills")).toMatchObject({
      turn: null,
      envelope: { code: "skills_same" },
    });
  });

  it("takes a persona away whose files are gone, and brings back what was erased", async () => {
    const { lily, home, system } = await open();
    home.remove("persona");
    expect((await lily.send("/reload_persona")).envelope.text).toContain("**SOUL.md** is gone.");
    await lily.send("hello");
    expect(system()).not.toContain("<persona>");
    expect(await fieldsOf(lily)).not.toHaveProperty("persona");
  });

  it("tells of a file that is left out, and reads the others", async () => {
    const { lily, home } = await open();
    home.put("persona/USER.md", Buffer.from([0xff]));
    const { envelope } = await lily.send("/reload_persona");
    expect(envelope.text).toContain("| persona/USER.md | is not UTF-8 text |");
    expect(await dataOf(lily, "/persona")).toMatchObject({
      differs: false,
      problems: [{ source: "persona/USER.md" }],
    });
  });
});

describe("/reload_skills", () => {
  it("takes new skills over and drops those that are gone, and changes no persona", async () => {
    const { lily, home, system } = await open();
    home.put("persona/SOUL.md", "You speak like a pilot.");
    home.remove("skills/tea");
    home.put("skills/coffee/SKILL.md", skillText("coffee", "Grind.", "Makes coffee."));
    const { envelope } = await lily.send("/reload_skills");
    expect(envelope.text).toContain("**coffee/SKILL.md** is new.\n\n**tea/SKILL.md** is gone.");
    await lily.send("hello");
    expect(system()).toContain("- coffee: Makes coffee.\n</skills>");
    expect(system()).toContain("sailor");
  });
});

describe("a reload", () => {
  const edit = fc.constantFrom(
    ["persona/SOUL.md", "one"],
    ["persona/SOUL.md", "two"],
    ["persona/USER.md", "lives here"],
    ["skills/tea/SKILL.md", skillText("tea", "Other.")],
    ["skills/cake/SKILL.md", skillText("cake", "Bake.")],
    ["skills/bad/SKILL.md", "nothing"],
  );
  const said = fc.constantFrom(
    "hello",
    "/style short",
    "/reasoning low",
    "/verbosity high",
    "/title Trip",
    "/model scripted:test",
    "/agent coder",
    "/task apollo",
    "/rollover idle 24h",
    "/todo buy milk",
  );

  it("changes its own field of the session and no other, whatever was said and edited before", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(said, { maxLength: 3 }),
        fc.array(edit, { minLength: 1, maxLength: 3 }),
        fc.constantFrom("persona", "skills"),
        async (texts, edits, what) => {
          const home = homeWith(FILES);
          const lily = await createHarness({ model: echoModel(), ...home });
          try {
            await lily.send("hello");
            for (const text of texts) await lily.send(text);
            const before = await fieldsOf(lily);
            for (const [path = "", text = ""] of edits) home.put(path, text);
            await lily.send(`/reload_${what}`);
            await lily.send("and?");
            const after = await fieldsOf(lily);
            const own = what === "persona" ? "persona" : "skillSnapshot";
            expect({ ...after, [own]: undefined }).toEqual({ ...before, [own]: undefined });
          } finally {
            await lily.close();
          }
        },
      ),
      { numRuns: 12 },
    );
  });
});

describe("/status", () => {
  it("says when the files differ from what the session has", async () => {
    const { lily, home } = await open();
    expect(await dataOf(lily, "/status")).toMatchObject({
      persona: ["SOUL.md"],
      skills: 1,
      differs: { persona: false, skills: false },
    });
    home.put("persona/SOUL.md", "Else.");
    const { envelope } = await lily.send("/status");
    expect(envelope.data).toMatchObject({ differs: { persona: true, skills: false } });
    expect(envelope.text).toContain("SOUL.md; the files differ by now: /reload_persona takes them over");
    expect(envelope.text).toContain("| skills | 1 |");
  });
});

describe("/persona and /skills", () => {
  it("show what the session has, beside how the files are now", async () => {
    const { lily, home } = await open();
    home.put("persona/SOUL.md", "Else.");
    home.put("persona/USER.md", "new");
    expect(await dataOf(lily, "/persona")).toMatchObject({
      differs: true,
      files: [
        { name: "SOUL.md", now: "changed" },
        { name: "USER.md", now: "new" },
      ],
    });
    expect((await lily.send("/persona soul")).envelope.text).toContain("You speak like a sailor.");
    expect((await lily.send("/persona identity")).envelope).toMatchObject({
      ok: false,
      message: "there are: SOUL.md",
    });
    expect(await dataOf(lily, "/skills")).toMatchObject({
      skills: [{ name: "tea", source: "skills/tea", description: "Makes tea." }],
    });
    expect((await lily.send("/skills tea")).envelope.text).toContain("Warm the pot.");
  });

  it("show, before anything was said, what the first session would have, and store nothing", async () => {
    const lily = await start({ model: echoModel(), ...homeWith(FILES) });
    expect((await lily.send("/persona SOUL.md")).envelope.text).toContain("sailor");
    expect(await dataOf(lily, "/skills")).toMatchObject({ skills: [{ name: "tea" }], differs: false });
    expect(await lily.storage.store.search([], { limit: 10 })).toEqual([]);
  });

  it("tell what does not fit into a prompt", async () => {
    const home = homeWith({ "persona/SOUL.md": "Word. ".repeat(2_000) });
    const model = echoModel();
    const lily = await start({ model, ...home, config: { limits: { contextTokens: 4_000 } } });
    await lily.send("hello");
    const { envelope } = await lily.send("/persona");
    expect(envelope.message).toMatch(
      /It is too long: its last \d+ of \d+ characters are left out of prompts, of which it has 15 % at most\./u,
    );
    expect(JSON.stringify(model.calls[0]?.messages).length).toBeLessThan(4_000);
  });
});

describe("/agent", () => {
  it("gives the conversation another agent with its own persona, and leaves all else of the session as it is", async () => {
    const { lily, system } = await open({ agents: { coder: { model: "scripted:test" } } });
    const before = await fieldsOf(lily);
    expect((await lily.send("/agent Coder")).envelope).toMatchObject({
      code: "agent_set",
      message: "coder answers from now on, in this conversation and those after it, with SOUL.md.",
    });
    await lily.send("hello");
    expect(system()).toContain("You write code.");
    const after = await fieldsOf(lily);
    expect(after.activeAgent).toBe("coder");
    expect({ ...after, activeAgent: "lily", persona: null }).toEqual({ ...before, persona: null });
  });

  it("goes on with the next session, whose persona is read when that begins", async () => {
    const { lily, home, system } = await open();
    await lily.send("/agent coder");
    home.put("agents/coder/SOUL.md", "You write tests.");
    await lily.send("hello");
    expect(system()).toContain("You write code.");
    await lily.send("/new hello");
    expect(system()).toContain("You write tests.");
    expect(await dataOf(lily, "/agents")).toMatchObject({
      agents: [
        { name: "lily", active: false },
        { name: "coder", active: true },
      ],
    });
  });
});

describe("how the user wants to be answered", () => {
  it("stands in the prompt behind safety and before the persona, which stands before the model's own manner", async () => {
    const { lily, system } = await open();
    await lily.send("/style short, in English </style>");
    await lily.send("/verbosity low");
    await lily.send("hello");
    const places = [
      "do no serious harm",
      "short, in English &lt;/style&gt;",
      "short answers",
      "You speak like a sailor.",
      "a helpful assistant",
    ].map((part) => system().indexOf(part));
    expect(places).not.toContain(-1);
    expect(places).toEqual([...places].sort((one, other) => one - other));
  });

  it("goes on with later sessions until it is reset, and is told by /status", async () => {
    const { lily, system } = await open();
    await lily.send("/style short");
    await lily.send("/reasoning high");
    await lily.send("/new hello");
    expect(system()).toContain("<style>\nshort\n</style>");
    expect(await fieldsOf(lily)).toMatchObject({ style: "short", modelConfig: { reasoning: "high" } });
    expect(await dataOf(lily, "/status")).toMatchObject({
      style: "short",
      reasoning: "high",
      verbosity: null,
    });
    await lily.send("/style reset");
    await lily.send("/reasoning reset");
    await lily.send("hello");
    expect(system()).not.toContain("<style>");
    expect((await fieldsOf(lily)).modelConfig).not.toHaveProperty("reasoning");
  });

  it("is as the configuration says where the user has not said so, also for the agents of a name", async () => {
    const agents = { defaults: { reasoning: "high", verbosity: "low" }, coder: { reasoning: "minimal" } };
    const { lily, system } = await open({ agents });
    const asked: unknown[] = [];
    const { models } = lily.deps;
    const chatModel = models.chatModel.bind(models);
    Object.assign(models, {
      chatModel: (reference: string, options: object) => (asked.push(options), chatModel(reference, options)),
    });
    await lily.send("hello");
    expect(system()).toContain("short answers");
    expect(await dataOf(lily, "/status")).toMatchObject({ reasoning: "high", verbosity: "low" });
    expect((await lily.send("/verbosity")).envelope.message).toBe("verbosity is low, as configured.");
    await lily.send("/verbosity high");
    await lily.send("/agent coder");
    await lily.send("hello");
    expect(asked).toMatchObject([
      { reasoningEffort: "high", verbosity: "low" },
      { reasoningEffort: "minimal", verbosity: "high" },
    ]);
    expect((await lily.send("/verbosity reset")).envelope.message).toBe(
      "verbosity is low again, as configured.",
    );
  });

  it("is refused where it holds a secret", async () => {
    const { lily } = await open();
    expect((await lily.send("/style my password is hunter2-Zebra!9")).envelope).toMatchObject({
      ok: false,
      code: "memory_policy_denied",
    });
  });

  it("is erased with what says it, from turns and from the sessions that were handed it", async () => {
    const { lily } = await open();
    await lily.send("/style like Zebulon");
    await lily.send("/new hello");
    await lily.send("/forget Zebulon --everywhere --yes");
    const items = await lily.storage.store.search([], { limit: 1_000 });
    expect(JSON.stringify(items.map(({ value }) => value))).not.toContain("Zebulon");
  });
});
