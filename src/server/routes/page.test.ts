import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pageQuerySchema, planPage, type Page, type PageQuery } from "./page.ts";

describe("a page", () => {
  it.each<[string, PageQuery, number, Page]>([
    ["nothing of nothing", {}, 0, { from: 1, to: 0, next: null }],
    ["all of a short list", {}, 3, { from: 1, to: 3, next: null }],
    ["the first 50 of a long list", {}, 51, { from: 1, to: 50, next: 51 }],
    ["all of a list that fits exactly", { limit: 3 }, 3, { from: 1, to: 3, next: null }],
    ["200 at most", { limit: 999 }, 500, { from: 1, to: 200, next: 201 }],
    ["what is asked for", { from: 2, to: 3 }, 9, { from: 2, to: 3, next: null }],
    ["cut at the end", { from: 8, to: 99 }, 9, { from: 8, to: 9, next: null }],
    ["the limit of what is asked for", { from: 2, to: 7, limit: 2 }, 9, { from: 2, to: 3, next: 4 }],
    ["nothing behind the end", { from: 10 }, 9, { from: 10, to: 9, next: null }],
    ["nothing backwards", { from: 5, to: 2 }, 9, { from: 5, to: 2, next: null }],
  ])("is %s", (_what, query, total, page) => {
    expect(planPage(query, total)).toEqual(page);
  });

  it("leads through the whole list, each item once", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 900 }), fc.integer({ min: 1, max: 300 }), (total, limit) => {
        const seen: number[] = [];
        let from: number | null = 1;
        while (from !== null) {
          const page: Page = planPage({ from, limit }, total);
          for (let item = page.from; item <= page.to; item += 1) seen.push(item);
          from = page.next;
        }
        expect(seen).toEqual(Array.from({ length: total }, (_item, index) => index + 1));
      }),
    );
  });

  it.each(["0", "-1", "1.5", "1e3", "", " 1", "one", "01", "9999999999", "Infinity"])(
    "does not begin at %j",
    (from) => {
      expect(pageQuerySchema.safeParse({ from }).success).toBe(false);
    },
  );
});
