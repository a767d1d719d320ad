/** Damages files as broken disks and crashes do. */
import { readFileSync, statSync, writeFileSync } from "node:fs";

const PAGE_BYTES = 4096;

/** Overwrites the whole page in which `text` first stands. */
export function damageText(file: string, text: string): void {
  const bytes = readFileSync(file);
  const at = bytes.indexOf(text);
  if (at < PAGE_BYTES) throw new Error(`${text} does not stand in a page of ${file} that can be damaged`);
  const page = Math.floor(at / PAGE_BYTES) * PAGE_BYTES;
  bytes.fill(0xa5, page, page + PAGE_BYTES);
  writeFileSync(file, bytes);
}

/** Leaves a file at its size and only zeros in it. */
export function zero(file: string): void {
  writeFileSync(file, Buffer.alloc(statSync(file).size));
}
