/** Hunts for a text in every file of a folder, in whatever encoding it may stand there. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { comparable } from "../says.ts";

/** Where it was found. */
export interface Catch {
  readonly file: string;
  /** The way by which the bytes were read. */
  readonly decoding: string;
  /** The text itself, or its words together. */
  readonly what: "text" | "words";
}

/** Words that stand within so many characters stand together. */
const TOGETHER = 160;

/**
 * Every file that says `text` word for word, or that has all of `words` together. Files are read as UTF-8 and UTF-16, with
 * and without JSON's escapes, and what looks like base64 or hexadecimal digits in them is decoded.
 */
export function hunt(
  folder: string,
  { text, words }: { readonly text: string; readonly words: readonly string[] },
): Catch[] {
  const [whole, ...parts] = [text, ...words].map(comparable);
  // Wider than words may stand apart: between them may be bytes that are no text.
  const reach = 1_000 + text.length;
  const anchors = [...new Set([text, words[0] ?? text].map(longestWord))].map(
    (word) => new RegExp(Array.from(word).join("\\p{Cf}*"), "giu"),
  );
  const whatIn = (said: string): Catch["what"] | undefined => {
    let found: Catch["what"] | undefined;
    for (const { index } of anchors.flatMap((anchor) => [...said.matchAll(anchor)])) {
      const around = comparable(said.slice(Math.max(0, index - reach), index + reach));
      if (around.includes(whole ?? "")) return "text";
      if (hasTogether(around, parts)) found = "words";
    }
    return found;
  };
  const caught = new Map<string, Catch>();
  for (const file of filesIn(folder)) {
    for (const [decoding, said] of decodings(readFileSync(file))) {
      const what = whatIn(said);
      if (what !== undefined)
        caught.set(`${file} ${decoding} ${what}`, { file: file.slice(folder.length + 1), decoding, what });
    }
  }
  return [...caught.values()];
}

/** Comparing everything in a file takes long: it is looked for there, and what stands around it is compared. */
function longestWord(text: string): string {
  const words = text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return words.reduce((longest, word) => (word.length > longest.length ? word : longest), "");
}

function filesIn(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesIn(path) : [path];
  });
}

function* decodings(bytes: Buffer): Generator<[string, string]> {
  for (const [name, text] of encodings(bytes)) {
    yield [name, text];
    yield [`${name}, JSON`, unescaped(text)];
  }
  const ascii = bytes.toString("latin1");
  for (const [run] of ascii.matchAll(/[A-Za-z0-9+/_-]{16,}={0,2}/gu)) {
    for (let offset = 0; offset < 4; offset += 1) {
      for (const [name, text] of encodings(Buffer.from(run.slice(offset), "base64")))
        yield [`base64, ${name}`, text];
    }
  }
  for (const [run] of ascii.matchAll(/[0-9a-f]{16,}/giu)) {
    for (const offset of [0, 1]) yield ["hex", Buffer.from(run.slice(offset), "hex").toString("utf8")];
  }
}

function* encodings(bytes: Buffer): Generator<[string, string]> {
  yield ["UTF-8", bytes.toString("utf8")];
  for (const offset of [0, 1]) {
    const even = Buffer.from(bytes.subarray(offset, offset + ((bytes.length - offset) & ~1)));
    yield ["UTF-16LE", even.toString("utf16le")];
    yield ["UTF-16BE", even.swap16().toString("utf16le")];
  }
}

function unescaped(text: string): string {
  return text
    .replaceAll(/\\+u([0-9a-fA-F]{4})/gu, (_all, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    )
    .replaceAll(/\\+[nrt]/gu, " ")
    .replaceAll(/\\+/gu, "");
}

function hasTogether(text: string, words: readonly string[]): boolean {
  const [first, ...rest] = words;
  if (first === undefined) return false;
  for (let at = text.indexOf(first); at >= 0; at = text.indexOf(first, at + 1)) {
    const around = text.slice(Math.max(0, at - TOGETHER), at + TOGETHER);
    if (rest.every((word) => around.includes(word))) return true;
  }
  return false;
}
