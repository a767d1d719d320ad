/** Recall of turns on LoCoMo: ten long conversations, each a home of its own, asked from a new session. */
import Database from "better-sqlite3";
import { z } from "zod";
import { createManualClock } from "#src/kernel/clock.ts";
import { recallTurns } from "#src/context/recall.ts";
import { openChain } from "#src/sessions/chain.ts";
import { linkTurn } from "#src/sessions/seal.ts";
import { createMemoryBackend } from "#src/storage/sqlite/sqlite-backend.ts";
import { createStoreSessionRepository } from "#src/storage/store-session-repository.ts";

const turnSchema = z.object({
  dia_id: z.string(),
  speaker: z.string(),
  text: z.string(),
  blip_caption: z.string().optional(),
});

/** Schema of the file: `locomo10.conversation-qa.json.gz`. */
export const locomoSchema = z.array(
  z.object({
    conversation: z.record(z.string(), z.unknown()),
    qa: z.array(z.object({ question: z.string(), category: z.int(), evidence: z.array(z.string()) })),
  }),
);

/** The conversations with their questions. */
export type LocomoData = z.infer<typeof locomoSchema>;

/** Shares of what answers that is among the first 5 and 10, as a mean of the five kinds of question. */
export interface LocomoMeasure {
  readonly questions: number;
  readonly at5: number;
  readonly at10: number;
}

interface Utterance {
  readonly id: string;
  readonly session: string;
  readonly text: string;
}

type Finder = (question: string) => Promise<readonly string[]>;

/** Plain FTS5 and the product over the same utterances, one a turn, as the published rows rank them. */
export async function measureLocomo(
  data: LocomoData,
): Promise<{ readonly plain: LocomoMeasure; readonly product: LocomoMeasure }> {
  const sums = { plain: new Map<number, number[][]>(), product: new Map<number, number[][]>() };
  for (const { conversation, qa } of data) {
    const utterances = utterancesIn(conversation);
    const known = new Set(utterances.map(({ id }) => id));
    const finders = { plain: plainFinder(utterances), product: await productFinder(utterances) };
    for (const { question, category, evidence } of qa) {
      const wanted = new Set(evidence.flatMap(idsIn).filter((id) => known.has(id)));
      if (wanted.size === 0) continue;
      for (const method of ["plain", "product"] as const) {
        const found = await finders[method](question);
        const shares = [5, 10].map(
          (cut) => found.slice(0, cut).filter((id) => wanted.has(id)).length / wanted.size,
        );
        sums[method].set(category, [...(sums[method].get(category) ?? []), shares]);
      }
    }
  }
  return { plain: macro(sums.plain), product: macro(sums.product) };
}

function macro(byCategory: ReadonlyMap<number, number[][]>): LocomoMeasure {
  const all = [...byCategory.values()];
  const mean = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0) / numbers.length;
  const at = (cut: number): number => mean(all.map((shares) => mean(shares.map((one) => one[cut] ?? 0))));
  return { questions: all.flat().length, at5: at(0), at10: at(1) };
}

function utterancesIn(conversation: Readonly<Record<string, unknown>>): Utterance[] {
  return Object.keys(conversation)
    .filter((name) => /^session_\d+$/u.test(name))
    .flatMap((session) =>
      z
        .array(turnSchema)
        .parse(conversation[session])
        .map(({ dia_id: id, speaker, text, blip_caption: caption }) => ({
          id,
          session,
          text: `${speaker}: ${text}${caption === undefined ? "" : ` [image: ${caption}]`}`,
        })),
    );
}

/** Some are written as `D8:6; D9:17`, `D:11:26` or `D30:05`. */
function idsIn(evidence: string): string[] {
  const ids = evidence.matchAll(/D:?(?<session>\d+):(?<turn>\d+)/gu);
  return Array.from(ids, ({ groups }) => `D${Number(groups?.["session"])}:${Number(groups?.["turn"])}`);
}

function plainFinder(utterances: readonly Utterance[]): Finder {
  const db = new Database(":memory:");
  db.exec("CREATE VIRTUAL TABLE turns USING fts5 (body, tokenize = 'porter unicode61')");
  const add = db.prepare<[number, string]>("INSERT INTO turns (rowid, body) VALUES (?, ?)");
  for (const [index, { text }] of utterances.entries()) add.run(index, text);
  const find = db
    .prepare<[string], number>("SELECT rowid FROM turns WHERE turns MATCH ? ORDER BY rank LIMIT 10")
    .pluck();
  return async (question) => {
    const words = [...new Set(question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])];
    return find
      .all(words.map((word) => `"${word}"`).join(" OR "))
      .map((index) => utterances[index]?.id ?? "");
  };
}

async function productFinder(utterances: readonly Utterance[]): Promise<Finder> {
  const at = "2026-01-01T00:00:00.000Z";
  const { store } = createMemoryBackend({ clock: createManualClock(0) });
  const repository = createStoreSessionRepository(store);
  const key = { owner: "local", sessionKey: "eval" };
  const chain = openChain({ ...key, sessionId: "asks", at, deliveryId: "d", textHash: "t" });
  const ids = new Map<string, string>();
  const counts = new Map<string, number>();
  for (const { id, session, text } of utterances) {
    const turn = (counts.get(session) ?? 0) + 1;
    counts.set(session, turn);
    ids.set(`${session} ${turn}`, id);
    const messages = [{ role: "user" as const, content: text, timestamp: at }];
    const body = {
      v: 1,
      sessionId: session,
      turn,
      kind: "chat",
      status: "completed",
      deliveryId: id,
    } as const;
    const record = { ...body, textHash: "t", at, messages, reply: {}, explanation: { requestId: id } };
    await repository.writeTurn({ ...key, sessionId: session }, linkTurn(record, { head: "", salt: "s" }));
  }
  return async (query) => {
    const pieces = await recallTurns(repository, {
      chain,
      held: [],
      query,
      rationale: "eval",
      characters: Infinity,
    });
    return pieces.map(({ sessionId, turn }) => ids.get(`${sessionId} ${turn}`) ?? "");
  };
}
