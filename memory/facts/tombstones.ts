/** What an owner has forgotten, as salted hashes: enough to know it again, not enough to read it. */
import { createHash } from "node:crypto";
import { z } from "zod";
import { stemsOf } from "#src/kernel/words.ts";
import { instantSchema } from "../record.ts";
import { tombstoneNamespace } from "../namespaces.ts";
import { comparableText, type FactDeps, instantOf, readItems } from "./rows.ts";

const tombstoneSchema = z.strictObject({
  schema_version: z.literal(1),
  salt: z.string().min(1),
  /** SHA-256 of salt and comparable text, hexadecimal. */
  hash: z.string().length(64),
  /** One of {@link BUCKETS} numbers for each word that carries a topic: hundreds of words share one. Absent in older marks. */
  words: z.array(z.int().nonnegative()).optional(),
  forgotten_at: instantSchema,
});

type Tombstone = z.infer<typeof tombstoneSchema> & { readonly id: string };

/** The tombstones of an owner, read once and asked often. */
export interface Tombstones {
  /** Those of `text`, whatever domain it would be remembered in. */
  of(text: string): readonly Tombstone[];
  /** Whether `text` has most of the words of something forgotten: it may be the same in other words. */
  resembles(text: string): boolean;
  readonly salt: string | undefined;
}

/** Reads the tombstones of `owner`. */
export async function readTombstones({ store }: FactDeps, owner: string): Promise<Tombstones> {
  const items = await readItems(store, tombstoneNamespace(owner));
  const stones = items.flatMap(({ key, value }): Tombstone[] => {
    const parsed = tombstoneSchema.safeParse(value);
    return parsed.success ? [{ ...parsed.data, id: key }] : [];
  });
  // There is one salt an owner, or two when two processes forgot at once for the first time.
  const salts = new Set(stones.map(({ salt }) => salt));
  return {
    of(text) {
      const hashes = new Set([...salts].map((salt) => hashOf(salt, text)));
      return stones.filter(({ hash }) => hashes.has(hash));
    },
    resembles(text) {
      const words = new Map([...salts].map((salt) => [salt, new Set(wordsIn(salt, text))]));
      return stones.some(({ salt, words: forgotten = [] }) => {
        const shared = forgotten.filter((word) => words.get(salt)?.has(word) === true);
        return shared.length * 2 > forgotten.length;
      });
    },
    salt: stones[0]?.salt,
  };
}

/** Marks each of `texts` as forgotten. @returns the ids of their tombstones, in their order, which say nothing about the texts */
export async function putTombstones(
  deps: FactDeps,
  owner: string,
  texts: readonly string[],
): Promise<string[]> {
  const stones = await readTombstones(deps, owner);
  const salt = stones.salt ?? deps.ids.salt();
  const ids: string[] = [];
  for (const text of texts) {
    const [known] = stones.of(text);
    const id = known?.id ?? deps.ids.uuid();
    ids.push(id);
    if (known !== undefined) continue;
    const stone: z.input<typeof tombstoneSchema> = {
      schema_version: 1,
      salt,
      hash: hashOf(salt, text),
      words: wordsIn(salt, text),
      forgotten_at: instantOf(deps),
    };
    await deps.store.put(tombstoneNamespace(owner), id, stone, false);
  }
  return ids;
}

/** Takes the marks off `text`, because the owner has said it again. */
export async function liftTombstones(deps: FactDeps, owner: string, text: string): Promise<void> {
  const stones = (await readTombstones(deps, owner)).of(text);
  for (const { id } of stones) await deps.store.delete(tombstoneNamespace(owner), id);
}

function hashOf(salt: string, text: string): string {
  return createHash("sha256")
    .update(`${salt}\n${comparableText(text)}`)
    .digest("hex");
}

/** So few that a number stands for hundreds of words and tells none; so many that half a text is rarely met by chance. */
const BUCKETS = 256;

/** Forms of a word have the same beginning: "allergic" and "allergy". */
const BEGINNING = 5;

function wordsIn(salt: string, text: string): number[] {
  const begun = stemsOf(text).map((word) => (/\d/u.test(word) ? word : word.slice(0, BEGINNING)));
  const buckets = begun.map(
    (word) => createHash("sha256").update(`${salt}\n${word}`).digest().readUInt8() % BUCKETS,
  );
  return [...new Set(buckets)].sort((a, b) => a - b);
}
