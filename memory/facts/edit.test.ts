import { describe, expect, it } from "vitest";
import { ADA, openTestFacts, recordOf } from "./testing/test-facts.ts";

describe("an edit", () => {
  it("of the text makes a new record that replaces the old one", async () => {
    const { say, facts, texts } = openTestFacts();
    const old = recordOf(await say("My sister's name is Roza"));
    const outcome = await facts.edit(ADA, old.id, { text: "My sister's name is Rosa" });
    expect(outcome).toMatchObject({
      kind: "stored",
      superseded: [{ id: old.id }],
      record: { supersedes: [old.id] },
    });
    expect(await texts()).toEqual(["My sister's name is Rosa"]);
  });

  it("of a text that is about nothing in particular replaces it too", async () => {
    const { say, facts, texts } = openTestFacts();
    const old = recordOf(await say("Rent is due on the 3rd"));
    await facts.edit(ADA, old.id, { text: "Rent is due on the 4th" });
    expect(await texts()).toEqual(["Rent is due on the 4th"]);
  });

  it("of the spelling changes the record in place", async () => {
    const { say, facts, texts } = openTestFacts();
    const old = recordOf(await say("i like tea"));
    expect(await facts.edit(ADA, old.id, { text: "I like tea." })).toMatchObject({
      record: { id: old.id },
      superseded: [],
    });
    expect(await texts()).toEqual(["I like tea."]);
  });

  it("passes the gate", async () => {
    const { say, facts, texts } = openTestFacts();
    const old = recordOf(await say("there is a wifi password"));
    const outcome = await facts.edit(ADA, old.id, { text: "the wifi password is Plum-Kettle-9" });
    expect(outcome).toMatchObject({ kind: "denied", denial: { rule: "password" } });
    expect(await texts()).toEqual(["there is a wifi password"]);
  });

  it("sets and takes away an expiry and the archive mark", async () => {
    const { say, facts } = openTestFacts();
    const { id } = recordOf(await say("I am in Oslo"));
    expect(recordOf(await facts.edit(ADA, id, { expiresAt: "2026-08-01" })).expires_at).toBe(
      "2026-08-01T00:00:00.000Z",
    );
    expect(recordOf(await facts.edit(ADA, id, { expiresAt: null })).expires_at).toBeNull();
    expect(recordOf(await facts.edit(ADA, id, { archived: true })).archived).toBe(true);
    expect(recordOf(await facts.edit(ADA, id, { archived: false })).archived).toBe(false);
  });

  it("to a text that is there already confirms that one and replaces this", async () => {
    const { say, facts, texts } = openTestFacts();
    const one = recordOf(await say("Rent is due on the 3rd"));
    await say("Rent is due on the 4th");
    expect(await facts.edit(ADA, one.id, { text: "Rent is due on the 4th" })).toMatchObject({
      kind: "known",
      confirmed: true,
    });
    expect(await texts()).toEqual(["Rent is due on the 4th"]);
  });

  it("of its domain moves it, and leaves the old place superseded", async () => {
    const { say, facts, texts } = openTestFacts();
    const old = recordOf(
      await say("Never push to main", { domain: "user_profile", expiresAt: "2026-08-01" }),
    );
    expect(await facts.edit(ADA, old.id, { domain: "working_rules" })).toMatchObject({
      kind: "stored",
      record: { domain: "working_rules", stability: "high", expires_at: null },
      superseded: [{ id: old.id }],
    });
    expect(await texts()).toEqual(["Never push to main"]);
    const { records } = await facts.show(ADA);
    await facts.edit(ADA, records[0]?.id ?? "", { domain: "user_profile" });
    expect((await facts.show(ADA)).records).toMatchObject([
      { domain: "user_profile", supersedes: [records[0]?.id] },
    ]);
  });

  it("of what it is about tells what else is about the same, and replaces nothing", async () => {
    const { say, facts, texts } = openTestFacts();
    const ghent = recordOf(await say("I live in Ghent", { about: "home" }));
    const oslo = recordOf(await say("I live in Oslo"));
    expect(await facts.edit(ADA, oslo.id, { about: "Home" })).toMatchObject({
      record: { id: oslo.id, conflict_group: "home" },
      conflicts: [{ id: ghent.id }],
    });
    expect(await texts()).toHaveLength(2);
  });

  it("of a task's fact moves it nowhere", async () => {
    const { say, facts } = openTestFacts();
    const { id } = recordOf(await say("We chose SQLite", { task: "lily" }));
    await expect(facts.edit(ADA, id, { domain: "user_profile" })).rejects.toMatchObject({
      code: "memory_input_invalid",
    });
  });

  it("of nothing is nothing", async () => {
    const { facts } = openTestFacts();
    expect(await facts.edit(ADA, "00000000-0000-4000-8000-000000000000", { text: "x" })).toEqual({
      kind: "none",
    });
  });
});

describe("confirming", () => {
  it("sets last_verified of what is there", async () => {
    const { say, facts } = openTestFacts();
    const { id } = recordOf(await say("I like tea"));
    const missing = "00000000-0000-4000-8000-000000000000";
    expect(await facts.verify(ADA, [id, missing, id.toUpperCase()])).toMatchObject({
      verified: [{ id, last_verified: "2026-02-03T10:15:01.000Z" }],
    });
  });

  it("supersedes the others about the same as the one that is kept", async () => {
    const { say, facts, texts } = openTestFacts();
    await say("I live in Ghent", { about: "home" });
    const oslo = recordOf(
      await say("I live in Oslo", { about: "home", saidBy: "tool", source: "inference" }),
    );
    expect(await facts.resolve(ADA, oslo.id)).toMatchObject({
      kind: "resolved",
      superseded: [{ text: "I live in Ghent" }],
    });
    expect(await texts()).toEqual(["I live in Oslo"]);
    expect(await facts.conflicts(ADA)).toEqual([]);
  });

  it("brings back a superseded side that is kept", async () => {
    const { say, facts, texts } = openTestFacts();
    const ghent = recordOf(await say("I live in Ghent", { about: "home" }));
    await say("I live in Oslo", { about: "home" });
    await facts.resolve(ADA, ghent.id);
    expect(await texts()).toEqual(["I live in Ghent"]);
  });
});
