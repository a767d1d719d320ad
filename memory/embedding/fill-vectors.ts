/** Makes vectors that a store lacks, a few at a time; a text that the embedder does not take keeps no other from its own. */
import { textsOf } from "#memory/stores/index-fields.ts";
import { embedTexts, type Embedder } from "./embedder.ts";

/** An item that lacks its vector. */
export interface DueItem {
  readonly id: number;
  /** JSON list of field paths. */
  readonly fields: string;
  /** JSON. */
  readonly value: string;
}

/** Where vectors are kept. */
export interface VectorTable {
  due(limit: number): Promise<readonly DueItem[]>;
  countDue(): Promise<number>;
  /** An item that was changed or deleted meanwhile is left as it is; `undefined`: the embedder does not take its text. */
  write(items: readonly DueItem[], vectors: readonly (Float32Array | undefined)[]): Promise<void>;
}

/** Characters of an item that are embedded: about what the smallest windows in use take. */
const MAX_TEXT_CHARACTERS = 4_000;

const TEXTS_AT_ONCE = 32;

/** Texts that are tried alone when some failed together, before the embedder is taken to be down. */
const TRIED_ALONE = 3;

/**
 * Makes at most `limit` vectors that are missing: the embedder is asked outside any transaction. A crash at any point
 * leaves items that lack one, no more.
 *
 * @throws {LilyError} `embedding_failed` when the embedder is down; what was made until then is kept.
 */
export async function fillVectors(
  table: VectorTable,
  embedder: Embedder,
  limit: number,
): Promise<{ readonly left: number }> {
  for (let handled = 0; handled < limit;) {
    const due = await table.due(Math.min(TEXTS_AT_ONCE, limit - handled));
    if (due.length === 0) break;
    handled += due.length;
    await table.write(due, await vectorsOf(embedder, due.map(textToEmbed)));
  }
  return { left: await table.countDue() };
}

/** One a text; `undefined` for a text that the embedder does not take. */
async function vectorsOf(
  embedder: Embedder,
  texts: readonly string[],
): Promise<(Float32Array | undefined)[]> {
  try {
    return await embedTexts(embedder, texts);
  } catch (error) {
    const vectors: (Float32Array | undefined)[] = [];
    for (const text of texts) {
      const [vector] = await embedTexts(embedder, [text]).catch(() => []);
      vectors.push(vector);
      const isDown = vectors.every((made) => made === undefined);
      if (isDown && vectors.length === Math.min(TRIED_ALONE, texts.length)) throw error;
    }
    return vectors;
  }
}

function textToEmbed({ value, fields }: DueItem): string {
  const text = textsOf(JSON.parse(value), JSON.parse(fields) as string[])
    .join("\n")
    .trim();
  return text.slice(0, MAX_TEXT_CHARACTERS).toWellFormed();
}
