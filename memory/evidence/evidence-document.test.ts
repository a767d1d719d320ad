import { expect, it } from "vitest";
import { markdownHeadings } from "./evidence-document.ts";

const shown = (text: string) => markdownHeadings(text).map(({ level, text: title }) => `${level} ${title}`);

it("finds headings of both forms, with the place of their line", () => {
  const text = "# One #\ntext\n\nTwo\n---\n\n  ### [Three](x.md) `code`\n\nFour\n===";
  expect(shown(text)).toEqual(["1 One", "2 Two", "3 Three code", "1 Four"]);
  expect(markdownHeadings(text).map(({ at }) => text.slice(at).split("\n", 1)[0])).toEqual([
    "# One #",
    "Two",
    "  ### [Three](x.md) `code`",
    "Four",
  ]);
});

it.each([
  ["in fenced code", "```sh\n# comment\n```\n~~~~\n# x\n```\n# y\n~~~~"],
  ["without a blank behind the mark", "#hashtag\n#!/bin/sh"],
  ["of seven marks", "####### deep"],
  ["in front matter", "---\ntitle: x\n# comment\n---\ntext"],
  ["of a rule below a list, a table or nothing", "- item\n---\n\n| a |\n---\n\n---"],
])("finds none %s", (_name, text) => {
  expect(shown(text)).toEqual([]);
});
