/** Bytes to text: by their mark, by what they declare, else UTF-8; never a guess that would store wrong characters. */
import { TextDecoder } from "node:util";

/** Text, or why the bytes are none, in words that go on behind a name, and what to do. */
export type Decoded =
  | { readonly text: string; readonly problem?: never; readonly next?: never }
  | { readonly text?: never; readonly problem: string; readonly next: string };

const MARKS: readonly (readonly [encoding: string, mark: readonly number[]])[] = [
  ["utf-8", [0xef, 0xbb, 0xbf]],
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]],
];

/** The encoding that a byte order mark at the beginning of `bytes` names. */
export function markedEncoding(bytes: Uint8Array): string | undefined {
  return MARKS.find(([, mark]) => mark.every((byte, index) => bytes[index] === byte))?.[0];
}

/**
 * The text of `bytes`, without its mark. Binary data, and what is broken or in an encoding that is not known, is none.
 *
 * @param declared the encoding that the document names, which a byte order mark outranks
 */
export function decodeText(bytes: Uint8Array, declared = "utf-8"): Decoded {
  const encoding = markedEncoding(bytes) ?? declared;
  if (!/^utf-16/iu.test(encoding) && bytes.includes(0)) return NO_TEXT;
  const decoded = decode(bytes, encoding);
  return decoded.text !== undefined && isMostlyControls(decoded.text.slice(0, 4_096)) ? NO_TEXT : decoded;
}

const NO_TEXT: Decoded = { problem: "is no text", next: "Save its text as UTF-8." };

function decode(bytes: Uint8Array, encoding: string): Decoded {
  let decoder: TextDecoder;
  try {
    decoder = new TextDecoder(encoding, { fatal: true });
  } catch {
    return { problem: "names an encoding that is not known here", next: "Save it as UTF-8." };
  }
  try {
    return { text: decoder.decode(bytes) };
  } catch {
    const problem = `is no whole ${encoding.toUpperCase()} text: some bytes are not valid`;
    return { problem, next: "Save it as UTF-8." };
  }
}

/** Binary data that happens to have no 0 byte. Colour codes of terminals are no sign of it, nor is a bell in a line. */
function isMostlyControls(sample: string): boolean {
  // oxlint-disable-next-line no-control-regex -- these are what is counted
  const controls = sample.match(/[\u0000-\u0008\u000e-\u001a\u001c-\u001f\u007f]/gu)?.length ?? 0;
  return controls > Math.max(2, sample.length * 0.02);
}
