/** Moves present files aside and staged ones to their places, by names alone: nothing is copied, nothing deleted. */
import { existsSync, linkSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "#memory/stores/sqlite/make-folder.ts";
import { SIDE_FILES } from "./home.ts";
import { isMissing, syncPath } from "./whole-file.ts";

/** Something that is replaced: a file, or a folder as a whole. */
export interface Replacement {
  readonly target: string;
  /** What takes its place; `null` when the backup has nothing there. */
  readonly staged: string | null;
  /** Where that which is there now goes. */
  readonly aside: string;
}

/** A step of putting in place, after which a test may stop. */
export type AfterStep = (step: string) => void;

/**
 * Replaces the two databases. Each state in between is a whole one: first without checkpoints, which costs the turn in
 * flight and nothing else, then with the other store, then with its checkpoints. At no time is there no store, so that
 * nobody makes a new one in between.
 *
 * @returns false when somebody made a checkpoint file in between, which was then left
 */
export function replaceDatabases(
  { checkpoints, store }: { readonly checkpoints: Replacement; readonly store: Replacement },
  afterStep: AfterStep,
): boolean {
  moveAside(checkpoints);
  afterStep("checkpoints aside");
  swap(store);
  afterStep("store in place");
  const isPut = checkpoints.staged === null || putWhereNothingIs(checkpoints.staged, checkpoints.target);
  for (const { target } of [checkpoints, store]) syncFolderOf(target);
  afterStep("checkpoints in place");
  return isPut;
}

/** Replaces a file or folder of the home folder. */
export function replace({ target, staged, aside }: Replacement): void {
  if (existsSync(target)) renameSync(target, aside);
  if (staged === null) return;
  makeFolder(dirname(target));
  renameSync(staged, target);
  syncFolderOf(target);
}

/** Keeps the old file under its other name, then puts the new one over it in one step. */
function swap({ target, staged, aside }: Replacement): void {
  if (staged === null) return moveAside({ target, staged, aside });
  if (existsSync(target)) linkOrMove(target, aside);
  moveSideFiles(target, aside);
  renameSync(staged, target);
}

function moveAside({ target, aside }: Replacement): void {
  if (existsSync(target)) renameSync(target, aside);
  moveSideFiles(target, aside);
}

/** A log that stays beside another database than its own would be taken for that one's. */
function moveSideFiles(target: string, aside: string): void {
  for (const ending of SIDE_FILES) {
    try {
      renameSync(`${target}${ending}`, `${aside}${ending}`);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
}

function linkOrMove(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    // A file system without hard links: for a moment there is no file of that name.
    renameSync(from, to);
  }
}

function putWhereNothingIs(staged: string, target: string): boolean {
  if (existsSync(target)) return false;
  try {
    linkSync(staged, target);
  } catch {
    if (existsSync(target)) return false;
    renameSync(staged, target);
    return true;
  }
  rmSync(staged);
  return true;
}

function syncFolderOf(path: string): void {
  const folder = dirname(path);
  if (existsSync(folder)) syncPath(folder);
}
