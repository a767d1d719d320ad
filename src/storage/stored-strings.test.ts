import { describe, expect, it } from "vitest";
import { stringsOf } from "./stored-strings.ts";

describe("the strings of a record", () => {
  it.each<[string, object, readonly string[]]>([
    ["texts of messages", { messages: [{ role: "user", content: "pear" }] }, ["pear"]],
    ["a title that was changed to", { changes: { title: "pear" } }, ["pear"]],
    [
      "a reason that was given for a recall",
      { explanation: { recalled: [{ rationale: "pear" }] } },
      ["pear"],
    ],
    ["names and numbers of an envelope's data", { envelope: { data: { pear: 4711 } } }, ["pear", "4711"]],
    ["a status in an envelope's data", { envelope: { data: { status: "pear" } } }, ["status", "pear"]],
    ["a text that begins like JSON and is none", { content: "[pear" }, ["[pear"]],
  ])("are %s", (_what, record, strings) => {
    expect(stringsOf(record)).toEqual(strings);
  });

  it.each<[string, object]>([
    ["ids and hashes", { sessionId: "p", deliveryId: "p", leaf: "p", head: "p", salt: "p", textHash: "p" }],
    ["words of the program", { kind: "chat", status: "completed", explanation: { requestId: "p" } }],
    ["instants: a year that was said is not in every turn", { at: "2026-03-01T09:00:00.000Z" }],
    ["local times in a table", { data: [{ x: "2026-03-01 09:00" }] }],
    ["numbers of the program", { explanation: { receipt: { budgetTokens: 1984 } } }],
  ])("are not %s", (_what, record) => {
    expect(stringsOf(record).filter((text) => text !== "x")).toEqual([]);
  });

  it("are those of JSON texts as they read without escapes, names and nested texts included", () => {
    const inner = JSON.stringify({ note: 'the "pear"\ntree' });
    const record = { toolCalls: [{ arguments: JSON.stringify({ "pe\u00e4r": inner, count: 4711 }) }] };
    const strings = stringsOf(record);
    expect(strings).toEqual(expect.arrayContaining(["pe\u00e4r", 'the "pear"\ntree', "count", "4711"]));
    expect(stringsOf({ content: '{"a":"\\u0070ear"}' })).toContain("pear");
  });

  it("end at a depth, however JSON is nested in JSON", () => {
    let text = "pear";
    for (let level = 0; level < 12; level += 1) text = JSON.stringify([text]);
    expect(stringsOf({ content: text }).length).toBeLessThan(8);
  });
});
