/** Reads text below a folder that others write: nothing that leads out of it, is too big or is no text. What is left out is told. */
import type { Dirent } from "node:fs";
import { lstat, opendir, readFile, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { toStorableText } from "#src/kernel/json.ts";
import type { FileProblem } from "#src/sessions/session-fields.ts";

/** A folder that is there. */
export interface Folder {
  /** Absolute, without links. */
  readonly path: string;
  /** As people are told of it. */
  readonly shown: string;
}

/** The folder; `undefined` where there is none, or where it cannot be read or leads out of `parent`, which is told. */
export async function openFolder(
  path: string,
  shown: string,
  { problems, parent }: { readonly problems: FileProblem[]; readonly parent?: Folder },
): Promise<Folder | undefined> {
  try {
    const real = await realpath(path);
    const isFolder = (await stat(real)).isDirectory();
    if (isFolder && (parent === undefined || isWithin(parent, real))) return { path: real, shown };
    problems.push({ source: shown, reason: isFolder ? LEADS_OUT : "is no folder" });
  } catch (error) {
    if (!isAbsent(error)) problems.push({ source: shown, reason: unreadable(error) });
  }
  return undefined;
}

/** A folder within another one. */
export function openWithin(
  parent: Folder,
  name: string,
  problems: FileProblem[],
): Promise<Folder | undefined> {
  return openFolder(join(parent.path, name), `${parent.shown}/${name}`, { problems, parent });
}

/**
 * Paths of what is in the folder, with "/" between names, sorted; without hidden ones. More than `most` are told, and are the
 * same whatever order the disk has; so are names with control characters.
 */
export async function pathsIn(
  folder: Folder,
  { most, recursive = false }: { readonly most: number; readonly recursive?: boolean },
  problems: FileProblem[],
): Promise<{ readonly path: string; readonly isFile: boolean; readonly isFolder: boolean }[]> {
  const found: { path: string; isFile: boolean; isFolder: boolean }[] = [];
  const folders = [""];
  let room = most;
  try {
    for (let below = folders.shift(); below !== undefined && room >= 0; below = folders.shift()) {
      for (const entry of await entriesIn(join(folder.path, below))) {
        const path = below + entry.name;
        room -= 1;
        if (room < 0) break;
        if (CONTROL.test(path)) {
          const shown = path.replaceAll(/\p{Cc}/gu, "\uFFFD");
          problems.push({ source: `${folder.shown}/${shown}`, reason: "has control characters in its name" });
          continue;
        }
        found.push({ path, isFile: entry.isFile(), isFolder: entry.isDirectory() });
        if (recursive && entry.isDirectory()) folders.push(`${path}/`);
      }
    }
  } catch (error) {
    problems.push({ source: folder.shown, reason: unreadable(error) });
  }
  if (room < 0)
    problems.push({
      source: folder.shown,
      reason: `has more than ${most} entries; the others are left out`,
    });
  return found.sort((one, other) => (one.path < other.path ? -1 : 1));
}

const CONTROL = /\p{Cc}/u;

/** Entries that are looked at in one folder; hidden ones are some of them. */
const MOST_LOOKED_AT = 10_000;

async function entriesIn(path: string): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  for await (const entry of await opendir(path)) if (entries.push(entry) === MOST_LOOKED_AT) break;
  return entries
    .filter(({ name }) => !/^(?:\.|node_modules$)/u.test(name))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** The text of a file in UTF-8, without its mark; `undefined` for none, and for one that is left out, which is told. */
export async function readText(
  folder: Folder,
  path: string,
  { maxBytes, problems }: { readonly maxBytes: number; readonly problems: FileProblem[] },
): Promise<string | undefined> {
  const source = `${folder.shown}/${path}`;
  const full = join(folder.path, path);
  try {
    const real = await realpath(full);
    if (!isWithin(folder, real)) return leftOut(LEADS_OUT);
    const facts = await stat(real);
    if (!facts.isFile()) return leftOut("is no file");
    if (facts.size > maxBytes) return leftOut(`has ${facts.size} bytes; at most ${maxBytes} are read`);
    return toStorableText(new TextDecoder("utf-8", { fatal: true }).decode(await readFile(real)));
  } catch (error) {
    if (isAbsent(error)) {
      const link = await lstat(full).catch(() => undefined);
      return link && leftOut("is a link that leads nowhere");
    }
    return leftOut(error instanceof TypeError ? NO_TEXT : unreadable(error));
  }

  function leftOut(reason: string): undefined {
    problems.push({ source, reason });
    return undefined;
  }
}

/** The reason why a picture is left out, say. */
export const NO_TEXT = "is not UTF-8 text";

const LEADS_OUT = "is a link that leads out of its folder";

function isWithin({ path }: Folder, real: string): boolean {
  return real.startsWith(path.endsWith(sep) ? path : path + sep);
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

function isAbsent(error: unknown): boolean {
  return codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR";
}

function unreadable(error: unknown): string {
  return `cannot be read (${codeOf(error) || "unknown reason"})`;
}
