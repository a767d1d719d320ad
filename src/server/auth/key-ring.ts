/** The keys that are accepted now: those of the environment and of the key file, which is read again when it changes. */
import { LilyError } from "#src/kernel/errors.ts";
import { fromInstant } from "#src/kernel/clock.ts";
import { hashApiKey, isSameHash, type KeyEntry, parseKeyList } from "./key-entries.ts";
import { keyFileOf, readKeyFile, versionOf } from "./key-file.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Keys with their owners. */
export interface KeyRing {
  /**
   * Whether keys are used at all. An empty key file counts: who revokes the last key does not open the server. For the
   * same reason it stays true when the file goes away.
   */
  isConfigured(): boolean;
  /** The entry of a key that holds at `nowMs` (milliseconds since the epoch). @throws {LilyError} `config_invalid` */
  find(key: string, nowMs: number): KeyEntry | undefined;
}

/**
 * Opens the keys of `LILY_API_KEYS` and of the key file.
 *
 * @throws {LilyError} `config_invalid` when one of them is malformed, or a file that is named is not there
 */
export function openKeyRing(env: Environment, home: string): KeyRing {
  const listed = parseKeyList(env["LILY_API_KEYS"] ?? "");
  const file = keyFileOf(env, home);
  let wasConfigured = listed.length > 0 || file.isNamed;
  let version: string | undefined;
  let entries: readonly KeyEntry[] = listed;
  const refresh = () => {
    const found = versionOf(file.path);
    wasConfigured ||= found !== undefined;
    if (found === version) return;
    entries = agreeing([...listed, ...readKeyFile(file.path)]);
    // Only now: a file that could not be read is tried again with the next request, and no key holds until then.
    version = found;
  };
  if (file.isNamed && versionOf(file.path) === undefined) throw missing(file.path);
  refresh();
  return {
    isConfigured() {
      wasConfigured ||= versionOf(file.path) !== undefined;
      return wasConfigured;
    },
    find(key, nowMs) {
      refresh();
      return match(entries, hashApiKey(key), nowMs);
    },
  };
}

/** Looks at every entry, so that the time tells nothing about where the right one stands. */
function match(entries: readonly KeyEntry[], hash: string, nowMs: number): KeyEntry | undefined {
  let found: KeyEntry | undefined;
  for (const entry of entries) {
    const holds = entry.expires === undefined || nowMs < fromInstant(entry.expires);
    if (isSameHash(entry.hash, hash) && holds) found = entry;
  }
  return found;
}

function agreeing(entries: readonly KeyEntry[]): readonly KeyEntry[] {
  const owners = new Map<string, string>();
  for (const { hash, owner } of entries) {
    const other = owners.get(hash) ?? owner;
    if (other === owner) owners.set(hash, owner);
    else
      throw new LilyError(
        "config_invalid",
        `one key is given to two owners, ${JSON.stringify(other)} and ${JSON.stringify(owner)}`,
        { next: "Make a key for each: lily keys new <owner>." },
      );
  }
  return entries;
}

function missing(path: string): LilyError {
  return new LilyError("config_invalid", `LILY_API_KEYS_FILE names ${path}, which is not there`, {
    next: "lily keys new <owner> makes it; or unset LILY_API_KEYS_FILE.",
  });
}
