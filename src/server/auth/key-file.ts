/** The key file: where it is, who may read it, how it is read and written; and the keys that are accepted now. */
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { z } from "zod";
import type { Environment } from "#src/app/config.ts";
import { makeFolder } from "#memory/stores/sqlite/make-folder.ts";
import { fromInstant } from "#src/kernel/clock.ts";
import { decodeText } from "#src/kernel/decode-text.ts";
import { LilyError, errorMessage } from "#src/kernel/errors.ts";
import { parseJson } from "#src/kernel/json.ts";
import { hashApiKey, isSameHash, keyFileSchema, parseKeyList, type KeyEntry } from "./key-entries.ts";

const OWNER_ONLY = 0o600;

/** `LILY_API_KEYS_FILE`, relative to the home folder, which then has to be there; by default `api-keys.json` in it. */
export function keyFileOf(env: Environment, home: string) {
  const named = env["LILY_API_KEYS_FILE"]?.trim() ?? "";
  return { path: resolve(home, named === "" ? "api-keys.json" : named), isNamed: named !== "" };
}

/** What changes whenever the file does; `undefined` without a file. */
function versionOf(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.ino}:${stats.size}:${stats.mtimeMs}:${stats.mode}`;
}

/**
 * Reads the entries; none without a file.
 *
 * @throws {LilyError} `config_invalid` when others may read or change the file, or it is not a list of keys
 */
export function readKeyFile(path: string): KeyEntry[] {
  if (!existsSync(path)) return [];
  if (process.platform !== "win32" && (statSync(path).mode & 0o077) !== 0) {
    throw new LilyError("config_invalid", `${path} can be read or changed by other users of this machine`, {
      next: `Run: chmod 600 ${path}`,
    });
  }
  const parsed = keyFileSchema.safeParse(jsonIn(path));
  if (parsed.success) return parsed.data;
  throw invalid(path, z.prettifyError(parsed.error));
}

/**
 * Replaces the file by one that only its owner may read. A reader finds the old list or the new one, never a part.
 *
 * @throws {LilyError} `config_invalid` when it cannot be written
 */
export function writeKeyFile(path: string, entries: readonly KeyEntry[]): void {
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    makeFolder(dirname(path));
    writeFileSync(draft, `${JSON.stringify(entries, null, 2)}\n`, {
      mode: OWNER_ONLY,
      flag: "wx",
      flush: true,
    });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new LilyError("config_invalid", `${path} cannot be written: ${errorMessage(error)}`, {
      next: "Set LILY_HOME or LILY_API_KEYS_FILE to a place that can be written.",
    });
  }
}

function jsonIn(path: string): unknown {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw invalid(path, errorMessage(error));
  }
  const { text, problem } = decodeText(bytes);
  if (text === undefined) throw invalid(path, `it ${problem}`);
  const value = parseJson(text);
  // The parser's own message would repeat a piece of the file, which may be a key that somebody pasted there.
  if (value === undefined) throw invalid(path, "it is not JSON");
  return value;
}

function invalid(path: string, why: string): LilyError {
  return new LilyError("config_invalid", `${path} is not a list of keys: ${why}`, {
    next: "Correct the file; lily keys new <owner> makes entries.",
  });
}

/**
 * Opens the keys of `LILY_API_KEYS` and of the key file, which is read again whenever it changes.
 *
 * @throws {LilyError} `config_invalid` when one of them is malformed, or a file that is named is not there
 */
export function openKeyRing(env: Environment, home: string) {
  const listed = parseKeyList(env["LILY_API_KEYS"] ?? "");
  const { path, isNamed } = keyFileOf(env, home);
  let wasConfigured = listed.length > 0;
  let version: string | undefined;
  let entries: readonly KeyEntry[] = listed;
  const refresh = () => {
    const found = versionOf(path);
    wasConfigured ||= found !== undefined;
    if (found === version) return;
    entries = agreeing([...listed, ...readKeyFile(path)]);
    // Only now: a file that could not be read is tried again with the next request, and no key holds until then.
    version = found;
  };
  refresh();
  if (isNamed && version === undefined)
    throw new LilyError("config_invalid", `LILY_API_KEYS_FILE names ${path}, which is not there`, {
      next: "lily keys new <owner> makes it; or unset LILY_API_KEYS_FILE.",
    });
  return {
    /**
     * Whether keys are used at all. An empty key file counts: who revokes the last key does not open the server. For the
     * same reason it stays true when the file goes away.
     */
    isConfigured: (): boolean => (wasConfigured ||= versionOf(path) !== undefined),
    /** The entry of a key that holds at `nowMs` (milliseconds since the epoch). @throws {LilyError} `config_invalid` */
    find(key: string, nowMs: number): KeyEntry | undefined {
      refresh();
      const wanted = hashApiKey(key);
      return entries.find(
        ({ hash, expires }) =>
          isSameHash(hash, wanted) && (expires === undefined || nowMs < fromInstant(expires)),
      );
    },
  };
}

function agreeing(entries: readonly KeyEntry[]): readonly KeyEntry[] {
  const owners = new Map<string, string>();
  for (const { hash, owner } of entries) {
    const other = owners.get(hash) ?? owner;
    owners.set(hash, other);
    if (other !== owner)
      throw new LilyError(
        "config_invalid",
        `one key is given to two owners, ${JSON.stringify(other)} and ${JSON.stringify(owner)}`,
        { next: "Make a key for each: lily keys new <owner>." },
      );
  }
  return entries;
}
