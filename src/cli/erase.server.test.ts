/** `lily erase --server` on a real LangGraph server: of two people one is erased, and then one conversation of the other. */
import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type DevServer, startDevServer } from "#graphs/server/testing/dev-server.ts";
import { temporaryFolder } from "#memory/stores/sqlite/testing/temporary-folder.ts";
import { receiptSchema } from "#src/erasure/receipt.ts";
import { hashApiKey, newApiKey } from "#src/server/auth/key-entries.ts";
import { envelopeIn, runLine } from "./testing/run-cli.ts";

// The server shares the machine with every other test file.
vi.setConfig({ testTimeout: 120_000 });

const [ann, bob, operator] = [newApiKey(), newApiKey(), newApiKey()];

let server: DevServer;

beforeAll(async () => {
  server = await startDevServer({
    LILY_MODEL: "symbolic",
    LILY_API_KEYS: `ann=${hashApiKey(ann)},bob=${hashApiKey(bob)}`,
    LILY_OPERATOR_KEY: hashApiKey(operator),
  });
}, 90_000);

afterAll(() => server?.stop());

const clientOf = (key: string): Client =>
  new Client({ apiUrl: server.url, apiKey: key, callerOptions: { maxRetries: 0 } });

async function say(key: string, sessionKey: string, ...texts: string[]): Promise<string> {
  const client = clientOf(key);
  const { thread_id: thread } = await client.threads.create({ graphId: "session" });
  for (const content of texts)
    await client.runs.wait(thread, "session", {
      input: { messages: [{ type: "human", content }] },
      context: { sessionKey },
    });
  return thread;
}

/** Everything that the server keeps and gives to its operator. */
async function everything(): Promise<string> {
  const client = clientOf(operator);
  const { namespaces } = await client.store.listNamespaces({ limit: 1_000 });
  const items = await Promise.all(
    namespaces.map((namespace) => client.store.searchItems(namespace, { limit: 100 })),
  );
  // The server goes on listing a namespace that was emptied.
  const kept = items.filter((page) => page.items.length > 0);
  // Times and status of a thread go on changing for a moment after its run has answered.
  const threads = await client.threads.search({ limit: 100 });
  const labels = threads.map(({ thread_id: id, metadata }) => JSON.stringify([id, metadata]));
  return JSON.stringify([kept, labels.toSorted()]);
}

const eraseThere = (args: readonly string[], header = `x-api-key: ${operator}`) =>
  runLine(temporaryFolder(), ["erase", "--json", "--server", server.url, "--yes", ...args], "", {
    LILY_SERVER_HEADER: header,
  });

describe("lily erase --server", () => {
  it("is for whoever runs the server, who can erase and do nothing else", async () => {
    const ran = await eraseThere(["--owner", "bob"], `x-api-key: ${ann}`);
    expect(envelopeIn(ran)).toMatchObject({ ok: false, next: expect.stringContaining("LILY_SERVER_HEADER") });
    const thread = await say(bob, "app:main", "hello");
    const client = clientOf(operator);
    await expect(client.threads.create()).rejects.toMatchObject({ status: 403 });
    await expect(client.threads.getState(thread)).rejects.toMatchObject({ status: 403 });
    await expect(client.runs.list(thread)).rejects.toMatchObject({ status: 403 });
    await expect(client.store.putItem(["x"], "y", {})).rejects.toMatchObject({ status: 403 });
  });

  it("erases a person's threads, runs and items, and leaves the other one whole", async () => {
    const theirs = await say(bob, "app:main", "/remember My parrot speaks Latin", "my parrot speaks Latin");
    const before = await everything();
    const gone = await say(ann, "app:main", "/remember My neighbour keeps zebrafish", "hello");
    await say(ann, "app:other", "zebrafish again");
    const preview = envelopeIn(await eraseThere(["--owner", "ann", "--dry-run"]));
    expect(preview).toMatchObject({ code: "owner_erase_preview" });
    expect(await everything()).toContain("zebrafish");

    const receipt = receiptSchema.parse(envelopeIn(await eraseThere(["--owner", "ann"])).data?.["receipt"]);
    expect(receipt).toMatchObject({ what: "person", finished: true });
    const erased = receipt.lines.filter(({ outcome }) => outcome === "erased").map(({ place }) => place);
    expect(erased).toEqual(
      expect.arrayContaining(["memory", "titles", "transcripts", "checkpoints", "session index"]),
    );
    expect(receipt.lines.find(({ place }) => place === "database files")?.outcome).toBe("not_supported");
    expect(await everything()).toBe(before);
    await expect(clientOf(ann).threads.get(gone)).rejects.toMatchObject({ status: 404 });
    expect(JSON.stringify(await clientOf(bob).threads.getState(theirs))).toContain("Latin");

    const again = envelopeIn(await eraseThere(["--owner", "ann"]));
    expect(again).toMatchObject({ ok: true, message: expect.stringContaining("Nothing was found") });
  });

  it("erases one conversation of a person and leaves the others, and what is remembered", async () => {
    await say(bob, "app:one", "/remember I play the oboe", "a secret about narwhals");
    await say(bob, "app:one2", "a word about badgers");
    const ran = envelopeIn(await eraseThere(["--owner", "bob", "--key", "app:one"]));
    expect(ran).toMatchObject({ ok: true, data: { receipt: { what: "key", finished: true } } });
    const left = await everything();
    expect(left).not.toContain("narwhals");
    expect(left).not.toContain('"app:one"');
    for (const kept of ["badgers", "I play the oboe"]) expect(left).toContain(kept);
  });

  it("erases by its key a conversation whose thread was deleted, or that never had one, and which stays until then (S-7)", async () => {
    const client = clientOf(bob);
    const thread = (await client.threads.create({ graphId: "session" })).thread_id;
    const input = (content: string) => ({ messages: [{ type: "human", content }] });
    await client.runs.wait(thread, "session", { input: input("a word about ocelots") });
    await client.threads.delete(thread);
    await client.runs.wait(null, "session", {
      input: input("a word about axolotls"),
      context: { sessionKey: "app:stateless" },
    });
    const kept = await everything();
    for (const word of ["ocelots", "axolotls"]) expect(kept).toContain(word);
    for (const key of [thread, "app:stateless"])
      expect(envelopeIn(await eraseThere(["--owner", "bob", "--key", key]))).toMatchObject({ ok: true });
    const left = await everything();
    for (const word of ["ocelots", "axolotls"]) expect(left).not.toContain(word);
  });
});
