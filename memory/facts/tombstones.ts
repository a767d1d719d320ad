/** What an owner has forgotten, as salted hashes: enough to know it again, not enough to read it. */
import { createHash } from "node:crypto";
import { z } from "zod";
import { instantSchema } from "../record.ts";
import { tombstoneNamespace } from "../namespaces.ts";
import { comparableText, readItems } from "./rows.ts";
import { type FactDeps, instantOf } from "./fact-deps.ts";

const tombstoneSchema = z.strictObject({
  schema_version: z.literal(1),
  salt: z.string().min(1),
  /** SHA-256 of salt and comparable text, hexadecimal. */
  hash: z.string().length(64),
  forgotten_at: instantSchema,
});

type Tombstone = z.infer<typeof tombstoneSchema> & { readonly id: string };

/** The tombstones of an owner, read once and asked often. */
export interface Tombstones {
  /** Those of `text`, whatever domain it would be remembered in. */
  of(text: string): readonly Tombstone[];
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
  const byHash = groupByHash(stones);
  return {
    of: (text) => [...salts].flatMap((salt) => byHash.get(hashOf(salt, text)) ?? []),
    salt: stones[0]?.salt,
  };
}

function groupByHash(stones: readonly Tombstone[]): Map<string, Tombstone[]> {
  const groups = new Map<string, Tombstone[]>();
  for (const stone of stones) groups.set(stone.hash, [...(groups.get(stone.hash) ?? []), stone]);
  return groups;
}

/** Marks `text` as forgotten. @returns the id of its tombstone, which says nothing about the text */
export async function putTombstone(deps: FactDeps, owner: string, text: string): Promise<string> {
  const stones = await readTombstones(deps, owner);
  const [known] = stones.of(text);
  if (known !== undefined) return known.id;
  const id = deps.ids.uuid();
  const salt = stones.salt ?? deps.ids.salt();
  const stone = { schema_version: 1, salt, hash: hashOf(salt, text), forgotten_at: instantOf(deps) };
  await deps.store.put(tombstoneNamespace(owner), id, stone, false);
  return id;
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
