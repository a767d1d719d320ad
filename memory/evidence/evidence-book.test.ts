import { InMemoryStore, type BaseStore } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { ADA } from "../facts/testing/test-facts.ts";
import { createFactStore } from "../facts/fact-store.ts";
import { createSequentialIds } from "#src/kernel/ids.ts";
import { citationOf } from "./evidence-item.ts";
import { openTestEvidence, sqliteStore } from "./testing/test-evidence.ts";
import { makePdf } from "./testing/make-pdf.ts";

const GUIDE = `# Returns

Anything can be sent back within thirty days.

## Refunds

Money comes back to the card it was paid with.

# Shipping

Parcels leave every morning from the harbour.
`;

const stores: readonly (readonly [string, () => BaseStore])[] = [
  ["a store that does not rank", () => new InMemoryStore()],
  ["SqliteStore", sqliteStore],
];

describe.each(stores)("evidence on %s", (_name, makeStore) => {
  it("is found by its words, labelled as no fact, and cited by file, heading and lines", async () => {
    const { ingest, book } = openTestEvidence(makeStore());
    expect(await ingest("/home/ada/guide.md", GUIDE)).toMatchObject({
      kind: "stored",
      replaced: null,
      leftOut: [],
      source: { title: "Returns", pieces: 3, canonical: false, session_id: "s1", turn: 3 },
    });
    const [best, ...others] = await book.search(ADA, "when does the money come back?", 2);
    expect(best).toMatchObject({
      piece: { canonical: false, headings: ["Returns", "Refunds"] },
    });
    expect(best && citationOf(best)).toBe("guide.md › Returns › Refunds, lines 5–7");
    expect(others.length).toBeLessThanOrEqual(1);
    expect(await book.search(ADA, "submarine", 5)).toEqual([]);
  });

  it("is found by a heading that stands above it", async () => {
    const { ingest, texts } = openTestEvidence(makeStore());
    await ingest("/g.md", `# Walnuts\n\n${"Crack them gently, one by one. ".repeat(100)}`);
    expect((await texts("walnuts")).length).toBeGreaterThan(1);
  });

  it("gives the page of a PDF", async () => {
    const { ingest, book } = openTestEvidence(makeStore());
    await ingest("/x/report.pdf", makePdf(["Sales went up.", "Costs of walnuts went down."]));
    const [found] = await book.search(ADA, "walnuts", 3);
    expect(found && citationOf(found)).toBe("report.pdf, page 2");
  });

  it("is one document when the same bytes come again, by the same or another path", async () => {
    const { ingest, book, clock } = openTestEvidence(makeStore());
    await ingest("/a/guide.md", GUIDE);
    clock.advance(60_000);
    expect(await ingest("/a/guide.md", GUIDE)).toMatchObject({ kind: "known" });
    expect(await ingest("/b/copy.md", GUIDE)).toMatchObject({
      kind: "known",
      source: { path: "/a/guide.md" },
    });
    expect(await book.sources(ADA)).toHaveLength(1);
  });

  it("replaces the older version of a file that has changed, of which nothing is left", async () => {
    const { ingest, book, texts, items, clock } = openTestEvidence(makeStore());
    await ingest("/a/guide.md", GUIDE);
    clock.advance(60_000);
    const again = await ingest("/a/guide.md", "# Returns\n\nNothing can be sent back.");
    expect(again).toMatchObject({ kind: "stored", replaced: { pieces: 3 }, source: { pieces: 1 } });
    expect(await book.sources(ADA)).toHaveLength(1);
    expect(await texts("parcels harbour")).toEqual([]);
    expect(await items()).not.toContain("harbour");
  });

  it("is gone with all its pieces when it is forgotten, and others stay", async () => {
    const { ingest, book, texts, items } = openTestEvidence(makeStore());
    await ingest("/a/guide.md", GUIDE);
    await ingest("/a/other.md", "Parcels may also be fetched.");
    const [guide] = (await book.sources(ADA)).filter(({ path }) => path === "/a/guide.md");
    expect(await book.forget(ADA, guide?.id ?? "")).toBe(true);
    expect(await book.forget(ADA, guide?.id ?? "")).toBe(false);
    expect(await texts("parcels")).toEqual(["Parcels may also be fetched."]);
    expect(await items()).not.toContain("harbour");
  });

  it("lists the newest document first", async () => {
    const { ingest, book, clock } = openTestEvidence(makeStore());
    expect(await book.hasAny(ADA)).toBe(false);
    await ingest("/a.txt", "one");
    clock.advance(1_000);
    await ingest("/b.txt", "two");
    expect((await book.sources(ADA)).map(({ path }) => path)).toEqual(["/b.txt", "/a.txt"]);
    expect(await book.hasAny(ADA)).toBe(true);
  });

  it("is never read as memory, and memory never as evidence", async () => {
    const { ingest, store, clock, texts } = openTestEvidence(makeStore());
    const memory = createFactStore(store, { clock, ids: createSequentialIds(), scan: async () => [] });
    await ingest("/a.txt", "walnuts in evidence");
    await memory.remember(ADA, { text: "I like walnuts", saidBy: "owner", source: "command" });
    expect((await memory.show(ADA, { query: "walnuts" })).records.map(({ text }) => text)).toEqual([
      "I like walnuts",
    ]);
    expect(await texts("walnuts")).toEqual(["walnuts in evidence"]);
  });
});

describe("a write that is cut off", () => {
  /** Throws at the n-th change from now on. */
  function breaking(store: BaseStore): { readonly store: BaseStore; breakAt(change: number): void } {
    let left = Infinity;
    const count = (): void => {
      left -= 1;
      if (left < 0) throw new Error("the disk is full");
    };
    return {
      store: new Proxy(store, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name);
          if (typeof value !== "function") return value;
          return (...args: readonly unknown[]): unknown => {
            if (name === "put" || name === "delete") count();
            return Reflect.apply(value, target, args);
          };
        },
      }),
      breakAt(change) {
        left = change;
      },
    };
  }

  // Three pieces and the document are put, then three older pieces deleted.
  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8])(
    "at change %i leaves one whole version to read, and a repetition heals it",
    async (change) => {
      const inner = new InMemoryStore();
      const { store, breakAt } = breaking(inner);
      const { ingest, texts, items } = openTestEvidence(store);
      await ingest("/guide.md", GUIDE);
      breakAt(change);
      const changed = GUIDE.replaceAll("every morning", "at night");
      const outcome = await ingest("/guide.md", changed).catch(() => "broken");
      breakAt(Infinity);
      const [seen, ...more] = await texts("parcels leave harbour");
      expect(more).toEqual([]);
      const isNew = seen?.includes("at night") === true;
      expect(isNew || seen?.includes("every morning") === true).toBe(true);
      if (change < 4) expect([outcome, isNew]).toEqual(["broken", false]);
      await ingest("/guide.md", `${changed}\nEnd.`);
      expect(await items()).not.toContain("every morning");
    },
  );
});

describe("the owner", () => {
  it("has to be somebody", async () => {
    const { book } = openTestEvidence();
    await expect(book.sources({ owner: "" })).rejects.toMatchObject({ code: "memory_owner_missing" });
    await expect(book.search({ owner: "" }, "x", 1)).rejects.toMatchObject({ code: "memory_owner_missing" });
  });
});
