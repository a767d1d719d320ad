import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { COMMANDS } from "#src/commands/registry.ts";
import { createAgentFiles } from "./agent-files.ts";

const BUNDLED = fileURLToPath(new URL("bundled", import.meta.url));

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "lily-agents-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

const filesIn = () =>
  createAgentFiles({
    home: join(root, "home"),
    workspace: join(root, "work"),
    bundled: join(root, "bundled"),
    defaultAgent: "lily",
  });

const skill = (name: string, body = "Do it.", description = "Does it. Use it when asked."): string =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}\n`;

const persona = (agent = "lily", ofOwner = true) => filesIn().persona(agent, { ofOwner });

describe("the persona of an agent", () => {
  it("is its four files, in the order soul, identity, user, working rules", async () => {
    for (const name of ["AGENTS", "USER", "SOUL", "IDENTITY"])
      put(`home/persona/${name}.md`, `${name} text\n`);
    put("home/persona/NOTES.md", "not read");
    expect(await persona()).toEqual({
      files: [
        { name: "SOUL.md", text: "SOUL text" },
        { name: "IDENTITY.md", text: "IDENTITY text" },
        { name: "USER.md", text: "USER text" },
        { name: "AGENTS.md", text: "AGENTS text" },
      ],
      problems: [],
    });
  });

  it("lies in a folder of its name for any but the default agent", async () => {
    put("home/persona/SOUL.md", "lily");
    put("home/agents/coder/SOUL.md", "coder");
    expect((await persona("coder")).files).toEqual([{ name: "SOUL.md", text: "coder" }]);
    expect((await persona("nobody")).files).toEqual([]);
    expect(await filesIn().agents()).toEqual({ names: ["coder"], problems: [] });
  });

  it("tells of the user of this machine to that owner alone", async () => {
    put("home/persona/SOUL.md", "kind");
    put("home/persona/USER.md", "lives in Elm Road");
    expect((await persona("lily", false)).files).toEqual([{ name: "SOUL.md", text: "kind" }]);
  });

  it("is nothing, and no mistake, where there is no home folder", async () => {
    expect(await persona()).toEqual({ files: [], problems: [] });
    expect(await filesIn().skills()).toEqual({ skills: [], problems: [] });
    expect(await filesIn().agents()).toEqual({ names: [], problems: [] });
  });

  it("leaves a broken file out, tells its path and the reason, and reads the good ones", async () => {
    put("home/persona/SOUL.md", Buffer.from([0x63, 0x61, 0x66, 0xe9]));
    put("home/persona/IDENTITY.md", "x".repeat(20_001));
    put("home/persona/AGENTS.md", "\uFEFFgood");
    put("secret.md", "secret");
    symlinkSync(join(root, "secret.md"), join(root, "home/persona/USER.md"));
    expect(await persona()).toEqual({
      files: [{ name: "AGENTS.md", text: "good" }],
      problems: [
        { source: "persona/SOUL.md", reason: "is not UTF-8 text" },
        { source: "persona/IDENTITY.md", reason: "has 20001 bytes; at most 20000 are read" },
        { source: "persona/USER.md", reason: "is a link that leads out of its folder" },
      ],
    });
  });

  it("tells of a folder in place of a file, a link to nowhere, and a name that is there twice", async () => {
    mkdirSync(join(root, "home/persona/SOUL.md"), { recursive: true });
    symlinkSync("nowhere", join(root, "home/persona/USER.md"));
    put("home/persona/AGENTS.md", "one");
    put("home/persona/agents.md", "two");
    const { files, problems } = await persona();
    expect(files).toEqual([{ name: "AGENTS.md", text: "one" }]);
    expect(problems).toEqual([
      { source: "persona/SOUL.md", reason: "is no file" },
      { source: "persona/USER.md", reason: "is a link that leads nowhere" },
      { source: "persona/agents.md", reason: "is there twice: AGENTS.md is read" },
    ]);
  });
});

describe("an agent's folder", () => {
  it("is told of where its name is none, or where it leads out", async () => {
    put("home/agents/Big Boss/SOUL.md", "x");
    put("home/agents/lily/SOUL.md", "x");
    put("elsewhere/SOUL.md", "x");
    symlinkSync(join(root, "elsewhere"), join(root, "home/agents/linked"));
    const { names, problems } = await filesIn().agents();
    expect(names).toEqual([]);
    expect(problems.map(({ source }) => source)).toEqual(["agents/Big Boss", "agents/lily", "agents/linked"]);
  });
});

describe("skills", () => {
  it("come from the workspace before the home folder before the program, and say what they hide", async () => {
    put("bundled/a/SKILL.md", skill("a", "bundled"));
    put("bundled/b/SKILL.md", skill("b", "bundled"));
    put("bundled/c/SKILL.md", skill("c", "bundled"));
    put("home/skills/a/SKILL.md", skill("a", "user"));
    put("home/skills/b/SKILL.md", skill("b", "user"));
    put("work/.lily/skills/a/SKILL.md", skill("a", "workspace"));
    const { skills, problems } = await filesIn().skills();
    expect(skills.map(({ name, source }) => [name, source])).toEqual([
      ["a", ".lily/skills/a"],
      ["b", "skills/b"],
      ["c", "bundled/c"],
    ]);
    expect(problems).toEqual([
      { source: "skills/a", reason: "is hidden by .lily/skills/a", isMeant: true },
      { source: "bundled/a", reason: "is hidden by .lily/skills/a", isMeant: true },
      { source: "bundled/b", reason: "is hidden by skills/b", isMeant: true },
    ]);
  });

  it("are read once where the workspace's own folder is the home folder", async () => {
    put("home/skills/a/SKILL.md", skill("a"));
    mkdirSync(join(root, "work"));
    symlinkSync(join(root, "home"), join(root, "work/.lily"));
    expect(await filesIn().skills()).toMatchObject({ skills: [{ name: "a" }], problems: [] });
  });

  it("bring the texts of their folder along, not pictures, hidden files and links out of it", async () => {
    put("home/skills/a/SKILL.md", skill("a"));
    put("home/skills/a/references/more.md", "more");
    put("home/skills/a/.git/config", "hidden");
    put("home/skills/a/assets/logo.png", Buffer.from([0x89, 0x50, 0xff, 0x00]));
    put("secret.md", "secret");
    symlinkSync(join(root, "secret.md"), join(root, "home/skills/a/secret.md"));
    const { skills, problems } = await filesIn().skills();
    expect(Object.keys(skills[0]?.texts ?? {})).toEqual(["SKILL.md", "references/more.md"]);
    expect(problems).toEqual([
      { source: "skills/a/assets/logo.png", reason: "is not UTF-8 text", isMeant: true },
      { source: "skills/a/secret.md", reason: "is a link that leads out of its folder" },
    ]);
  });

  it("have limits of number and size, which are told", async () => {
    for (let index = 0; index < 66; index += 1) {
      const name = `s${String(index).padStart(2, "0")}`;
      put(`home/skills/${name}/SKILL.md`, skill(name));
    }
    put("home/skills/s00/SKILL.md", skill("s00", "x".repeat(64_000)));
    for (let index = 0; index < 5; index += 1) put(`home/skills/s01/${index}.md`, "x".repeat(60_000));
    const { skills, problems } = await filesIn().skills();
    expect(skills).toHaveLength(64);
    expect(problems).toEqual([
      {
        source: "skills/s00/SKILL.md",
        reason: expect.stringMatching(/^has 64\d\d\d bytes; at most 64000 are read$/u),
      },
      { source: "skills/s01/4.md", reason: "is left out: a skill has at most 256000 bytes" },
      { source: "skills/s65", reason: "is left out: a session has at most 64 skills" },
    ]);
  });

  it("are the same ones, whatever order the disk has; nothing hidden is gone through, however much it is", async () => {
    for (let index = 60; index >= 0; index -= 1)
      put(`home/skills/a/${String(index).padStart(2, "0")}.md`, `${index}`);
    put("home/skills/a/SKILL.md", skill("a"));
    for (let index = 0; index < 60; index += 1) put(`home/skills/b/.git/objects/${index}`, "x");
    for (let index = 0; index < 60; index += 1) put(`home/skills/b/node_modules/x/${index}.md`, "x");
    put("home/skills/b/SKILL.md", skill("b"));
    put("home/skills/b/z/more.md", "more");
    const { skills, problems } = await filesIn().skills();
    expect(Object.keys(skills[0]?.texts ?? {})).toHaveLength(41);
    expect(skills[0]?.texts).toHaveProperty(["39.md"]);
    expect(Object.keys(skills[1]?.texts ?? {})).toEqual(["SKILL.md", "z/more.md"]);
    expect(problems).toEqual([
      { source: "skills/a", reason: "has more than 40 entries; the others are left out" },
    ]);
    expect(await filesIn().skills()).toEqual({ skills, problems });
  });

  it("bring no control characters to a terminal, in names of files nor in descriptions", async () => {
    put("home/skills/a/SKILL.md", skill("a", "Do it.", '"Wipes \\e[2J the\\0 screen"'));
    put("home/skills/a/x\u001B[2J.md", "x");
    put("home/skills/b\nc/SKILL.md", skill("b"));
    put("home/agents/d\re/SOUL.md", "x");
    const { skills, problems } = await filesIn().skills();
    expect(skills).toMatchObject([{ name: "a", description: "Wipes [2J the screen" }]);
    const reason = "has control characters in its name";
    expect(problems).toEqual([
      { source: "skills/b\uFFFDc", reason },
      { source: "skills/a/x\uFFFD[2J.md", reason },
    ]);
    expect((await filesIn().agents()).problems).toEqual([{ source: "agents/d\uFFFDe", reason }]);
  });

  it("with tags that YAML does not know, and front matter that names itself, say no word on the way", async () => {
    const warned: string[] = [];
    const note = ({ name }: Error) => void warned.push(name);
    process.on("warning", note);
    put("home/skills/a/SKILL.md", '---\nname: &n a\ndescription: !!js/function "x"\n__proto__: *n\n---\n');
    expect(await filesIn().skills()).toMatchObject({
      skills: [{ name: "a", description: "x" }],
      problems: [],
    });
    await new Promise((resolve) => void setImmediate(resolve));
    process.off("warning", note);
    expect(warned).toEqual([]);
  });

  it.each<[what: string, text: string, reason: RegExp]>([
    [
      "front matter of many pages",
      `---\nname: a\nb: [\nc:${" ".repeat(9_000)}x\n---\n`,
      /more than 8000 char/u,
    ],
    ["lists without an end in sight", `---\nname: a\nd: ${"[".repeat(7_000)}\n---\n`, /is no YAML \(/u],
    ["no front matter", "# A\n", /does not begin with front matter/u],
    ["front matter without an end", "---\nname: a\n", /does not begin with front matter/u],
    ["broken YAML", "---\nname: [a\n---\n", /is no YAML \(/u],
    [
      "a bomb of aliases",
      `---\na: &a [x,x,x,x,x,x,x,x,x]\n${"bcdefgh".replaceAll(/./gu, (c, i: number) => `${c}: &${c} [${Array(9).fill(`*${"abcdefg"[i]}`).join(",")}]\n`)}---\n`,
      /is no YAML \(/u,
    ],
    ["a list", "---\n- a\n---\n", /has no fields/u],
    ["no fields at all", "---\n---\n", /has no fields/u],
    ["no name", "---\ndescription: x\n---\n", /name is missing/u],
    ["another name than its folder", skill("b"), /is named b, and its folder a/u],
    ["a name in capitals", skill("A"), /lower case/u],
    ["a name that is a number", skill("7"), /name is missing or no text/u],
    ["no description", "---\nname: a\n---\n", /description is missing/u],
    ["an empty description", skill("a", "", '"  "'), /description is empty/u],
    ["a long description", skill("a", "", "x".repeat(1_025)), /more than 1024/u],
  ])("leave out one with %s, and tell why", async (_what, text, reason) => {
    put("home/skills/a/SKILL.md", text);
    put("home/skills/good/SKILL.md", skill("good"));
    const { skills, problems } = await filesIn().skills();
    expect(skills.map(({ name }) => name)).toEqual(["good"]);
    expect(problems).toEqual([{ source: "skills/a/SKILL.md", reason: expect.stringMatching(reason) }]);
  });

  it("may have further fields, line ends of Windows, and a colon in their description", async () => {
    const text = skill("a", "Text", "Makes reports. Use it when: asked.").replace(
      "---\n\n",
      "license: MIT\nmetadata:\n  v: 1\n---\n\n",
    );
    put("home/skills/a/SKILL.md", `\uFEFF${text.replaceAll("\n", "\r\n")}`);
    expect(await filesIn().skills()).toMatchObject({
      skills: [{ name: "a", description: "Makes reports. Use it when: asked." }],
      problems: [],
    });
  });

  it("tell of a folder without SKILL.md, and of one that leads out; a file beside them is none", async () => {
    mkdirSync(join(root, "home/skills/empty"), { recursive: true });
    put("elsewhere/SKILL.md", skill("linked"));
    symlinkSync(join(root, "elsewhere"), join(root, "home/skills/linked"));
    put("home/skills/README.md", "about");
    expect(await filesIn().skills()).toEqual({
      skills: [],
      problems: [
        { source: "skills/empty", reason: "has no SKILL.md" },
        { source: "skills/linked", reason: "is a link that leads out of its folder" },
      ],
    });
  });
});

describe("the skills that come with the program", () => {
  it("are all read, and name no command that does not exist", async () => {
    const files = createAgentFiles({ home: root, workspace: root, bundled: BUNDLED, defaultAgent: "lily" });
    const { skills, problems } = await files.skills();
    expect(skills.map(({ name }) => name)).toEqual(["meeting-notes", "using-lily", "writing-skills"]);
    expect(problems).toEqual([]);
    const named = skills.flatMap(({ texts }) => [
      ...Object.values(texts)
        .join("\n")
        .matchAll(/`\/([a-z_-]+)/gu),
    ]);
    const known = COMMANDS.map(({ name }) => name);
    expect(named.map(([, name]) => name).filter((name) => !known.includes(name ?? ""))).toEqual([]);
  });
});
