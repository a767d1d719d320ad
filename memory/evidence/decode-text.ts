/** Bytes to text: by their mark, by what they declare, else UTF-8; never a guess that would store wrong characters. */
import { TextDecoder } from "node:util";
import { unreadable } from "./limits.ts";

const MARKS: readonly (readonly [encoding: string, mark: readonly number[]])[] = [
  ["utf-8", [0xef, 0xbb, 0xbf]],
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]],
];

/**
 * The text of `bytes`, without its mark.
 *
 * @param declared the encoding that the document names, which a byte order mark outranks
 * @throws {LilyError} `evidence_unreadable` for binary data, broken and unknown encodings
 */
export function decodeText(bytes: Uint8Array, name: string, declared = "utf-8"): string {
  const marked = MARKS.find(([, mark]) => mark.every((byte, index) => bytes[index] === byte))?.[0];
  const encoding = marked ?? declared;
  if (!/^utf-16/iu.test(encoding) && bytes.includes(0)) throw binary(name);
  const text = decode(bytes, name, encoding);
  if (isMostlyControls(text.slice(0, 4_096))) throw binary(name);
  return text;
}

function decode(bytes: Uint8Array, name: string, encoding: string): string {
  let decoder: TextDecoder;
  try {
    decoder = new TextDecoder(encoding, { fatal: true });
  } catch {
    throw unreadable(name, "names an encoding that is not known here", "Save it as UTF-8.");
  }
  try {
    return decoder.decode(bytes);
  } catch {
    const shown = encoding.toUpperCase();
    throw unreadable(name, `is no whole ${shown} text: some bytes are not valid`, "Save it as UTF-8.");
  }
}

/** Binary data that happens to have no 0 byte. Colour codes of terminals are no sign of it. */
function isMostlyControls(sample: string): boolean {
  // oxlint-disable-next-line no-control-regex -- these are what is counted
  const controls = sample.match(/[\u0000-\u0008\u000e-\u001a\u001c-\u001f\u007f]/gu)?.length ?? 0;
  return controls > sample.length * 0.02;
}

function binary(name: string) {
  return unreadable(
    name,
    "is no text",
    "Text, Markdown, HTML and PDF files can be read; save it as one of them, text as UTF-8.",
  );
}
