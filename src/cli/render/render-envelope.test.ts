import { Chalk } from "chalk";
import stringWidth from "string-width";
import { describe, expect, it } from "vitest";
import { COMMANDS } from "#src/commands/registry.ts";
import { done, refused, type Envelope } from "#src/kernel/envelope.ts";
import { plainScreen, type Screen } from "../screen.ts";
import { renderEnvelope } from "./render-envelope.ts";

const terminal = (columns: number): Screen => ({ columns, isTerminal: true, paint: new Chalk({ level: 0 }) });

const sessions = done("sessions", "2 sessions of cli:main.", {
  next: "/resume <number> goes on with one of them.",
  data: {
    sessionKey: "cli:main",
    sessions: [
      row({
        ordinal: 1,
        latest: false,
        title: "Which seat is the quietest on the night train?",
        openedBecause: "first message",
      }),
      row({ ordinal: 2, latest: true, title: null, openedBecause: "you asked for it with /new" }),
    ],
  },
});

function row(fields: object): object {
  return { sessionId: "s", turns: 3, opened: "2026-05-01 21:40", sealed: null, continues: [], ...fields };
}

const status = done(
  "status",
  "Session 2 of cli:main, 3 turns. It goes on: 1 h since the last turn (limit 12 h).",
  {
    data: {
      sessionId: "0198c0de-0000-4000-8000-000000000001",
      sessionKey: "cli:main",
      title: "Trip",
      model: "openai:gpt-4o-mini",
      modelChosen: true,
      agent: "lily",
      created: "2026-05-01 21:40",
      lastActivity: "2026-05-01 22:00",
      expires: "2026-05-02 04:00",
      openedBecause: "first message",
      lastDecision: { action: "stay", text: "1 h since the last turn (limit 12 h)" },
      mode: "segmented",
      controlModel: "openai:judge decides (you chose it)",
      topicRollover: true,
      topicUnknown: 2,
      timeZone: "Europe/Zurich",
      storage: "sqlite in /home/someone/.lily",
    },
  },
);

const history = done("history", "The latest 1 turns.", {
  data: {
    turns: [
      {
        at: "2026-05-01 21:40",
        status: "stopped",
        messages: [
          { role: "user", content: "one\n  two" },
          {
            role: "assistant",
            content: "A rather long answer that does not fit on one narrow line. \u001B[31m漢字\u001B[0m",
          },
        ],
      },
      { at: "2026-05-01 21:45", status: "erased", erasedAt: "2026-05-03 08:00", messages: [] },
    ],
  },
});

const recall = done("recall", "From earlier conversations: …", {
  data: {
    found: [
      {
        ordinal: 1,
        turn: 2,
        at: "2026-05-01T19:40:00.000Z",
        score: 1.25,
        user: "my flight is LX 1234",
        assistant: "Noted.",
      },
    ],
  },
});

const fact = {
  short: "1a2b3c4d",
  text: "I prefer the quietest seat on the night train, near a window",
  domain: "user_profile",
  state: "current",
  saidBy: "owner",
  remembered: "2026-05-01 21:40",
  expires: null,
  task: null,
};

const facts = done("memory_shown", "3 facts.", {
  next: "/forget <id> erases one of them.",
  data: {
    records: [
      fact,
      { ...fact, short: "5e6f7a8b", text: "The launch is on 3 June", domain: "task_memory", task: "apollo" },
      { ...fact, short: "9c0d1e2f", state: "verify", saidBy: "assistant", expires: "2026-06-01 00:00" },
    ],
  },
});

const memory = done("memory", "3 facts are remembered.", {
  data: {
    counts: { user_profile: 2, task_memory: 1, review: 0 },
    actions: [{ usage: "/memory show [words] [--all]", summary: "what is remembered" }],
  },
});

const checkpoints = done("memory_checkpoints", "The newest stored state.", {
  data: {
    checkpoints: [
      {
        id: "1f0c8a5e-0000-6000-8000-000000000001",
        at: "2026-05-01 21:40",
        step: 4,
        next: [],
        turns: 1,
        messages: 2,
      },
    ],
  },
});

const help = done("help", "10 commands.", {
  data: { commands: COMMANDS.map(({ usage, summary }) => ({ usage, summary })) },
});

describe("an envelope on a screen", () => {
  it("shows sessions as a table that fits", () => {
    expect(`\n${renderEnvelope(sessions, terminal(80))}\n`).toMatchInlineSnapshot(`
      "
      2 sessions of cli:main.

      #    began             turns  about                  because
      1    2026-05-01 21:40  3      Which seat is the      first message
                                    quietest on the night
                                    train?
      2 ●  2026-05-01 21:40  3      (nothing said)         you asked for it with
                                                           /new

      /resume <number> goes on with one of them.
      "
    `);
    expect(`\n${renderEnvelope(sessions, terminal(40))}\n`).toMatchInlineSnapshot(`
      "
      2 sessions of cli:main.

      1    Which seat is the quietest on the
           night train?
           2026-05-01 21:40, 3 turns, first
           message
      2 ●  (nothing said)
           2026-05-01 21:40, 3 turns, you
           asked for it with /new

      /resume <number> goes on with one of
      them.
      "
    `);
  });

  it("shows the status as facts", () => {
    expect(`\n${renderEnvelope(status, terminal(80))}\n`).toMatchInlineSnapshot(`
      "
      Session 2 of cli:main, 3 turns. It goes on: 1 h since the last turn (limit 12
      h).

      title       Trip
      answers     openai:gpt-4o-mini (you chose it)
      began       2026-05-01 21:40, first message
      last turn   2026-05-01 22:00
      ends        2026-05-02 04:00
      decision    went on: 1 h since the last turn (limit 12 h)
      topic       openai:judge decides (you chose it); 2 times without a finding
      time zone   Europe/Zurich
      agent       lily
      session id  0198c0de-0000-4000-8000-000000000001
      data        sqlite in /home/someone/.lily
      "
    `);
  });

  it("shows history as who said what", () => {
    expect(`\n${renderEnvelope(history, terminal(40))}\n`).toMatchInlineSnapshot(`
      "
      The latest 1 turns.

      2026-05-01 21:40 (stopped)
      you:  one
              two
      lily: A rather long answer that does not
            fit on one narrow line. 漢字

      2026-05-01 21:45 (erased on 2026-05-03
      08:00)
      "
    `);
  });

  it("shows what was recalled with where it is from, once", () => {
    expect(`\n${renderEnvelope(recall, terminal(80))}\n`).toMatchInlineSnapshot(`
      "
      session 1, turn 2, 2026-05-01, score 1.25
      you:  my flight is LX 1234
      lily: Noted.
      "
    `);
  });

  it("shows facts as a table that fits", () => {
    expect(`\n${renderEnvelope(facts, terminal(80))}\n`).toMatchInlineSnapshot(`
      "
      3 facts.

      id        fact                            kind          since
      1a2b3c4d  I prefer the quietest seat on   user_profile  2026-05-01 21:40
                the night train, near a window
      5e6f7a8b  The launch is on 3 June         task apollo   2026-05-01 21:40
      9c0d1e2f  I prefer the quietest seat on   user_profile  2026-05-01 21:40
                the night train, near a window                by assistant
                                                              to confirm
                                                              until 2026-06-01 00:00

      /forget <id> erases one of them.
      "
    `);
    expect(`\n${renderEnvelope(facts, terminal(40))}\n`).toMatchInlineSnapshot(`
      "
      3 facts.

      1a2b3c4d  I prefer the quietest seat on
                the night train, near a window
                user_profile
                2026-05-01 21:40
      5e6f7a8b  The launch is on 3 June
                task apollo
                2026-05-01 21:40
      9c0d1e2f  I prefer the quietest seat on
                the night train, near a window
                user_profile
                2026-05-01 21:40
                by assistant
                to confirm
                until 2026-06-01 00:00

      /forget <id> erases one of them.
      "
    `);
  });

  it("shows what there is to choose from below the question", () => {
    const ambiguous = refused("memory_ambiguous", "2 facts fit", {
      next: "Say which.",
      data: facts.data ?? {},
    });
    expect(renderEnvelope(ambiguous, terminal(80))).toMatch(/Say which[\s\S]*1a2b3c4d[\s\S]*5e6f7a8b/u);
  });

  it("shows a failure in a box with what to do next", () => {
    const failure = refused("command_unknown", "there is no command /nwe", {
      next: "/help lists the commands.",
    });
    expect(`\n${renderEnvelope(failure, terminal(40))}\n`).toMatchInlineSnapshot(`
      "
      ╭ command_unknown ──────────╮
      │ There is no command /nwe. │
      │ /help lists the commands. │
      ╰───────────────────────────╯
      "
    `);
    expect(renderEnvelope(failure, plainScreen())).toBe(
      "there is no command /nwe\n/help lists the commands.",
    );
  });

  it.each([
    ["there is no command /nope", "There is no command /nope."],
    ["e.bin is no text", "e.bin is no text."],
    ["session:3 has not ended", "session:3 has not ended."],
    ["/a/b cannot be read", "/a/b cannot be read."],
    ["été is no key", "Été is no key."],
  ])("begins a failure with a capital, unless with a name: %s", (message, sentence) => {
    expect(renderEnvelope(refused("command_usage", message), terminal(80))).toContain(` ${sentence} `);
  });

  it("calls states and counts by the words of the messages", () => {
    const counts = { user_profile: 1, review: 0, leftOut: 2 };
    const shown = renderEnvelope(done("memory", "1 fact.", { data: { counts, actions: [] } }), terminal(80));
    expect(shown).toContain("not read");
    expect(shown).not.toContain("leftOut");
  });

  it("shows any other code as its message and next step", () => {
    const unknown = done("brand_new", "Something happened.", { next: "Go on.", data: { a: 1 } });
    expect(renderEnvelope(unknown, plainScreen())).toBe("Something happened.\nGo on.");
    expect(renderEnvelope(done("status", "No data came."), plainScreen())).toBe("No data came.");
  });

  it.each<[string, Envelope]>(
    Object.entries({ sessions, status, history, recall, help, facts, memory, checkpoints }),
  )("keeps %s within the screen at every width", (_name, envelope) => {
    for (let columns = 40; columns <= 130; columns += 5) {
      const widest = Math.max(
        ...renderEnvelope(envelope, terminal(columns))
          .split("\n")
          .map((line) => stringWidth(line)),
      );
      expect(widest).toBeLessThanOrEqual(columns);
    }
  });

  it.each<[string, Envelope]>(
    Object.entries({ sessions, status, history, recall, help, facts, memory, checkpoints }),
  )("shows %s without a control character", (_name, envelope) => {
    const hostile: unknown = JSON.parse(
      JSON.stringify(envelope, (_key, value: unknown) =>
        typeof value === "string" && value !== envelope.code ? `${value}\u001B[2J\u009B1m\u0007` : value,
      ),
    );
    expect(renderEnvelope(hostile as Envelope, plainScreen())).not.toMatch(/[^\P{Cc}\n]/u);
  });
});
