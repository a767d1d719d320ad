/** Gives the tests a folder in memory for their files, where there is room: none of them is meant to outlive its test. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MEMORY = "/dev/shm";
/** More than all tests together use at a time. */
const ROOM_BYTES = 2 ** 30;

/** Run by vitest before its workers start. @returns what removes the folder when they have ended */
export function setup(): (() => void) | undefined {
  if (!hasRoom()) return undefined;
  const before = tmpdir();
  const folder = mkdtempSync(join(MEMORY, "lily-tests-"));
  // A database server runs as a user of its own and has to pass.
  chmodSync(folder, 0o755);
  keepCompiledPrograms(before, folder);
  process.env["TMPDIR"] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

function hasRoom(): boolean {
  if (!existsSync(MEMORY)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= ROOM_BYTES;
}

/** What tsx has compiled for programs that tests start is found by the next run too. */
function keepCompiledPrograms(before: string, folder: string): void {
  const name = `tsx-${process.getuid?.() ?? "0"}`;
  mkdirSync(join(before, name), { recursive: true });
  symlinkSync(join(before, name), join(folder, name));
}
