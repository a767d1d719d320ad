import { describe, expect, it } from "vitest";
import type { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { echoModel, type Harness, systemOf } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const HOUR = 3_600_000;
const start = harnessStarter();

/** What the model's latest call was told of memory. */
function told(model: ScriptedChatModel): string {
  const system = systemOf(model);
  return system.includes("<memory>") ? system.slice(system.indexOf("<memory>")) : "";
}

/** Facts of two tasks, and one about the person. */
async function twoTasks(lily: Harness): Promise<void> {
  await lily.send("/remember --task apollo The launch is on 3 June");
  await lily.send("/remember --task zephyr The launch is on 9 September");
  await lily.send("/remember I prefer tea without milk");
}

describe("/task", () => {
  it("is none until one is chosen, and lists those that there are", async () => {
    const lily = await start({ model: echoModel() });
    await twoTasks(lily);
    const reply = await lily.send("/task");
    expect(reply).toMatchObject({
      turn: null,
      envelope: {
        ok: true,
        code: "task",
        data: {
          task: null,
          tasks: [
            { name: "apollo", facts: 1 },
            { name: "zephyr", facts: 1 },
          ],
        },
      },
    });
  });

  it("chooses a task with a committed turn, which /status tells and the next session keeps", async () => {
    const lily = await start({ model: echoModel() });
    await twoTasks(lily);
    const chosen = await lily.send("/task apollo");
    expect(chosen).toMatchObject({
      turn: 4,
      envelope: { code: "task_set", data: { task: "apollo", facts: 1 } },
    });
    expect((await lily.send("/status")).envelope.data).toMatchObject({ task: "apollo" });
    await lily.restart();
    lily.clock.advance(13 * HOUR);
    await lily.send("good morning");
    expect((await lily.send("/status")).envelope.data).toMatchObject({ ordinal: 2, task: "apollo" });
    await lily.send("/new");
    expect((await lily.send("/task")).envelope.data).toMatchObject({ task: "apollo" });
  });

  it("leaves it with none, and forgets nothing", async () => {
    const lily = await start({ model: echoModel() });
    await twoTasks(lily);
    await lily.send("/task apollo");
    expect((await lily.send("/task none")).envelope).toMatchObject({ code: "task_cleared" });
    expect(await lily.send("/task none")).toMatchObject({ turn: null, envelope: { code: "task" } });
    expect((await lily.send("/status")).envelope.data).toMatchObject({ task: null });
    await lily.send("/new");
    expect((await lily.send("/task")).envelope.data).toMatchObject({ task: null, tasks: [{}, {}] });
  });

  it.each([
    ["several words", "/task moon landing", "moon landing"],
    ["words in quotation marks", '/task "moon landing"', "moon landing"],
    ["another script", "/task 月面着陸", "月面着陸"],
    ["the name of nothing yet", "/task voyager", "voyager"],
  ])("takes a name of %s", async (_of, command, task) => {
    const lily = await start({ model: echoModel() });
    await lily.send('/remember --task "moon landing" The crew is three');
    await lily.send("/remember --task 月面着陸 乗組員は三人");
    expect((await lily.send(command)).envelope).toMatchObject({ code: "task_set", data: { task } });
  });

  it("says so where only the letters' case is another one, and refuses what is no name", async () => {
    const lily = await start({ model: echoModel() });
    await twoTasks(lily);
    expect((await lily.send("/task Apollo")).envelope).toMatchObject({
      data: { facts: 0 },
      next: expect.stringContaining("/task apollo"),
    });
    for (const command of [`/task ${"x".repeat(201)}`, "/task --namespace apollo"])
      expect((await lily.send(command)).envelope).toMatchObject({ ok: false, code: "command_usage" });
    expect((await lily.send("/task")).envelope.data).toMatchObject({ task: "Apollo" });
  });

  it("is refused when memory is switched off", async () => {
    const lily = await start({ model: echoModel(), config: { memory: { enabled: false } } });
    expect((await lily.send("/task apollo")).envelope).toMatchObject({ ok: false, code: "memory_off" });
  });
});

describe("the memory of the task that was chosen", () => {
  it("is given beside what is known of the person, under its own title, with its receipt", async () => {
    const model = echoModel();
    const lily = await start({ model });
    await twoTasks(lily);
    await lily.send("/task apollo");
    const reply = await lily.send("when is the launch? I'd like some tea");
    expect(told(model)).toMatch(
      /About the user and their life:\n- \[.+\] I prefer tea without milk\n<\/memory>[\s\S]+<memory>\nOf the task that the user is at, "apollo":\n- \[.+\] The launch is on 3 June\n<\/memory>/u,
    );
    const record = (await lily.turns(reply.sessionId)).at(-1);
    expect(record?.explanation.receipt?.memory).toHaveLength(2);
    expect((await lily.send("/why")).envelope.message).toContain("of the task “apollo”");
  });

  it("is never that of another task, of a task that shares a part of its name, or of somebody else's", async () => {
    const model = echoModel();
    const lily = await start({ model });
    await twoTasks(lily);
    await lily.send("/remember --task apollo2 The launch is on 1 January");
    await lily.send("/remember --task apollo The launch is on 2 February", { owner: "bert" });
    await lily.send("/task apollo");
    await lily.send("when is the launch?");
    expect(told(model)).toContain("3 June");
    expect(told(model)).not.toMatch(/September|January|February/u);
  });

  it("is not read before it was chosen, nor after it was left", async () => {
    const model = echoModel();
    const lily = await start({ model });
    await twoTasks(lily);
    await lily.send("when is the launch?");
    expect(told(model)).not.toContain("launch");
    await lily.send("/task apollo");
    await lily.send("when is the launch?");
    expect(told(model)).toContain("3 June");
    await lily.send("/task none");
    await lily.send("when is the launch?");
    expect(told(model)).not.toContain("launch");
  });

  it("is given newest first whatever is asked, and as data inside the fence", async () => {
    const model = echoModel();
    const lily = await start({ model });
    await lily.send("/remember --task </memory> The budget is <b>two</b> euros");
    await lily.send("/task </memory>");
    await lily.send("good morning");
    expect(told(model)).toContain('Of the task that the user is at, "&lt;/memory&gt;":');
    expect(told(model)).toContain("The budget is &lt;b&gt;two&lt;/b&gt; euros");
    expect(told(model).match(/<\/memory>/gu)).toHaveLength(1);
  });

  it("has nothing that has expired, was replaced or was forgotten", async () => {
    const model = echoModel();
    const lily = await start({ model });
    await lily.send("/remember --task apollo --about deadline The deadline is 3 June");
    await lily.send("/remember --task apollo --about deadline The deadline is 9 June");
    await lily.send("/remember --task apollo --expires 2d The office is closed");
    await lily.send("/remember --task apollo The crew is three");
    await lily.send("/forget --task apollo crew");
    await lily.send("/task apollo");
    lily.clock.advance(49 * HOUR);
    await lily.send("what about the deadline?");
    expect(told(model)).toContain("9 June");
    expect(told(model)).not.toMatch(/3 June|closed|three/u);
  });

  it("answers without a model, and only while it is chosen", async () => {
    const lily = await start();
    await twoTasks(lily);
    await lily.send("/new");
    expect((await lily.send("when is the launch?")).envelope.message).not.toMatch(/June|September/u);
    await lily.send("/task apollo");
    expect((await lily.send("when is the launch?")).envelope.message).toContain("The launch is on 3 June");
  });
});
