/** `lily keys`: makes, lists and revokes the API keys of a server. The key file holds hashes only. */
import ms, { type StringValue } from "ms";
import { z } from "zod";
import { fromInstant, toInstant } from "#src/kernel/clock.ts";
import { LilyError } from "#src/kernel/errors.ts";
import {
  hashApiKey,
  isApiKey,
  type KeyEntry,
  newApiKey,
  parseKeyList,
} from "#src/server/auth/key-entries.ts";
import { keyFileOf, readKeyFile, writeKeyFile } from "#src/server/auth/key-file.ts";
import { homeFolder } from "#src/app/home-folder.ts";
import { done } from "#src/kernel/envelope.ts";
import { assertNoBlankEnds, parseOwner } from "#src/sessions/session-key.ts";
import type { CliContext } from "./context.ts";
import { printableLine } from "./printable.ts";
import { table } from "./render/table.ts";
import { screenOf } from "./screen.ts";
import { tell } from "./tell.ts";
import { counted } from "#src/kernel/markdown.ts";

/** What is asked for a new key. */
export interface NewKey {
  readonly owner: string;
  /** Words by which a person knows the key. */
  readonly label?: string | undefined;
  /** Instant, date or duration, as typed. */
  readonly expires?: string | undefined;
}

/** Hex digits of the hash by which a key is named. */
const ID_DIGITS = 8;

/** Fewest hex digits that name a key. */
const MIN_ID_DIGITS = 4;

/** Makes a key and shows it, this once. Returns the exit code. */
export async function newKey(context: CliContext, wanted: NewKey): Promise<number> {
  const path = pathOf(context);
  const key = newApiKey();
  const entry = entryFor(key, wanted);
  writeKeyFile(path, [...readKeyFile(path), entry]);
  const until = entry.expires === undefined ? "" : ` until ${entry.expires}`;
  const message = `A key for ${JSON.stringify(entry.owner)}${until}; it is shown only now.`;
  const envelope = done("key_made", message, {
    next: `Send it as Authorization: Bearer <key>. lily keys revoke ${idOf(entry)} takes it back.`,
    data: { key, id: idOf(entry), ...entry, file: path },
  });
  const listed = `LILY_API_KEYS=${encodeURIComponent(entry.owner)}=${entry.hash}`;
  // On lines of their own and never wrapped, so that they can be copied.
  return tell(context, envelope, [key, `For a server without this file: ${listed}`]);
}

/** Lists the keys of the file and of the environment, by their hashes. Returns the exit code. */
export async function listKeys(context: CliContext): Promise<number> {
  const path = pathOf(context);
  const keys = [
    ...readKeyFile(path).map((entry) => shownKey(entry, "file")),
    ...environmentKeys(context).map((entry) => shownKey(entry, "LILY_API_KEYS")),
  ];
  if (keys.length === 0)
    return tell(context, done("keys", `There are no keys in ${path}.`, { data: { keys } }));
  const rows = keys.map(({ id, owner, label, state, from }) =>
    [id, owner, label ?? "", state, from].map((cell) => printableLine(cell)),
  );
  const envelope = done("keys", `${counted(keys.length, "key")}.`, {
    next: "lily keys revoke <id or label> takes a key back.",
    data: { keys, file: path },
  });
  const head = ["id", "owner", "label", "holds", "from"];
  return tell(context, envelope, [table({ head, rows }, screenOf(context.stdout, context.env))]);
}

/** Takes back the key that `which` names: the first digits of its id, its label, or the key itself. Returns the exit code. */
export async function revokeKey(context: CliContext, which: string): Promise<number> {
  const path = pathOf(context);
  const entries = readKeyFile(path);
  const [entry, ...others] = entries.filter((one) => isNamed(one, which));
  if (entry === undefined) {
    if (environmentKeys(context).some((one) => isNamed(one, which)))
      throw new LilyError("request_invalid", "this key is in LILY_API_KEYS, not in the file", {
        next: "Take its entry out of LILY_API_KEYS and start the server again.",
      });
    // What was typed is not repeated: it may be a key.
    throw new LilyError("request_invalid", `there is no such key in ${path}`, {
      next: `lily keys list shows the ids; give at least ${MIN_ID_DIGITS} digits of one, or a whole label.`,
    });
  }
  const id = idOf(entry);
  if (others.length > 0) {
    const message = `${others.length + 1} keys are named so: ${[id, ...others.map(idOf)].join(", ")}`;
    throw new LilyError("request_invalid", message, { next: "Use the id of one of them." });
  }
  const { owner, label } = entry;
  writeKeyFile(
    path,
    entries.filter((one) => one !== entry),
  );
  const named = label === undefined ? id : `${id} (${label})`;
  const message = `The key ${named} of ${JSON.stringify(owner)} is refused from now on.`;
  return tell(context, done("key_revoked", message, { data: { id, owner, label: label ?? null } }));
}

const pathOf = ({ env, cwd }: CliContext): string => keyFileOf(env, homeFolder(env, cwd)).path;

function entryFor(key: string, { owner, label, expires }: NewKey): KeyEntry {
  assertNoBlankEnds(owner, "owner");
  const trimmed = printableLine(label ?? "").slice(0, 100);
  return {
    owner: parseOwner(owner),
    hash: hashApiKey(key),
    ...(trimmed === "" ? {} : { label: trimmed }),
    ...(expires === undefined ? {} : { expires: parseExpiry(expires, Date.now()) }),
  };
}

function shownKey(entry: KeyEntry, from: "file" | "LILY_API_KEYS") {
  const { owner, label, expires } = entry;
  const isOver = expires !== undefined && fromInstant(expires) <= Date.now();
  const state = expires === undefined ? "for good" : `${isOver ? "expired" : "until"} ${expires}`;
  return { id: idOf(entry), owner, label: label ?? null, expires: expires ?? null, state, from };
}

function isNamed(entry: KeyEntry, which: string): boolean {
  if (isApiKey(which)) return entry.hash === hashApiKey(which);
  const digits = which.toLowerCase().replace(/^sha256:/u, "");
  const isId = digits.length >= MIN_ID_DIGITS && entry.hash.slice("sha256:".length).startsWith(digits);
  return isId || entry.label === which;
}

const idOf = ({ hash }: KeyEntry): string => hash.slice("sha256:".length, "sha256:".length + ID_DIGITS);

const environmentKeys = ({ env }: CliContext): KeyEntry[] => parseKeyList(env["LILY_API_KEYS"] ?? "");

const DURATION = /^\d+ ?(?:m|h|d|w|y)$/u;

/**
 * The instant that `text` names: an instant with its zone, a date (its beginning in UTC), or a duration from now.
 *
 * @throws {LilyError} `request_invalid` when it is none of them, or not in the future
 */
export function parseExpiry(text: string, nowMs: number): string {
  const atMs = DURATION.test(text) ? nowMs + ms(text as StringValue) : instantMs(text);
  // Four digits for the year: later instants have a form of their own, which the key file does not take.
  if (atMs > nowMs && atMs < fromInstant("9999-12-31T23:59:59Z")) return toInstant(atMs);
  throw new LilyError("request_invalid", `${JSON.stringify(text.slice(0, 40))} is no time in the future`, {
    next: "Use a duration like 90d, a date like 2027-01-31, or an instant like 2027-01-31T12:00:00Z.",
  });
}

function instantMs(text: string): number {
  const isTime = z.union([z.iso.date(), z.iso.datetime({ offset: true })]).safeParse(text).success;
  return isTime ? fromInstant(text) : Number.NaN;
}
