/** Damages files as broken disks and crashes do. */
import { readFileSync, statSync, writeFileSync } from "node:fs";

/** Where a database says how long its pages are. */
const PAGE_SIZE_AT = 16;

/** Overwrites the whole page in which `text` first stands. */
export function damageText(file: string, text: string): void {
  const bytes = readFileSync(file);
  const at = bytes.indexOf(text);
  const pageBytes = bytes.readUInt16BE(PAGE_SIZE_AT);
  if (at < pageBytes) throw new Error(`${text} does not stand in a page of ${file} that can be damaged`);
  const page = Math.floor(at / pageBytes) * pageBytes;
  bytes.fill(0xa5, page, page + pageBytes);
  writeFileSync(file, bytes);
}

/** Leaves a file at its size and only zeros in it. */
export function zero(file: string): void {
  writeFileSync(file, Buffer.alloc(statSync(file).size));
}
