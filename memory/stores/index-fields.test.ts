import { expect, it } from "vitest";
import { textsOf } from "./index-fields.ts";

const VALUE = {
  title: "Report",
  year: 2024,
  draft: false,
  nothing: null,
  authors: [{ name: "Ada", tags: ["x", "y"] }, { name: "Ben" }],
  meta: { place: "Ghent", more: { deep: "down" } },
};

it.each([
  ["$", ["Report", "Ada", "x", "y", "Ben", "Ghent", "down"]],
  ["title", ["Report"]],
  ["year", ["2024"]],
  ["draft", ["false"]],
  ["nothing", []],
  ["missing.field", []],
  ["authors[*].name", ["Ada", "Ben"]],
  ["authors[0].tags[1]", ["y"]],
  ["authors[-1].name", ["Ben"]],
  ["authors[7].name", []],
  ["authors[x].name", []],
  ["meta", ["Ghent", "down"]],
  ["meta.more.deep", ["down"]],
  ["meta.*", ["Ghent", "down"]],
  ["{title,meta.place}", ["Report", "Ghent"]],
  ["authors[*].{name,tags}", ["Ada", "x", "y", "Ben"]],
  ["title.length", []],
  ["constructor", []],
])("selects by %s", (field, texts) => {
  expect(textsOf(VALUE, [field])).toEqual(texts);
});

it("joins fields in their order", () => {
  expect(textsOf(VALUE, ["meta.place", "title"])).toEqual(["Ghent", "Report"]);
});
