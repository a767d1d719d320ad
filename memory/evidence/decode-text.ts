/** Bytes to text: by their mark, by what they declare, else UTF-8; never a guess that would store wrong characters. */
import { TextDecoder } from "node:util";
import { unreadable } from "./unreadable.ts";

const SAMPLE_BYTES = 4_096;

/**
 * The text of `bytes`.
 *
 * @param declared the encoding that the document names, which a byte order mark outranks
 * @throws {LilyError} `evidence_unreadable` for binary data, broken and unknown encodings
 */
export function decodeText(bytes: Uint8Array, name: string, declared?: string): string {
  const encoding = markedEncoding(bytes) ?? unmarkedUtf16(bytes) ?? declared ?? "utf-8";
  const isWide = /^utf-16/iu.test(encoding);
  if (!isWide && bytes.includes(0)) throw binary(name);
  const text = decode(bytes, name, encoding);
  if (isMostlyControls(text)) throw binary(name);
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

function markedEncoding([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : undefined;
}

/** UTF-16 without its mark: of text with many ASCII characters every second byte is 0. */
function unmarkedUtf16(bytes: Uint8Array): string | undefined {
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  const zeros = [0, 0];
  for (const [index, byte] of sample.entries())
    if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const many = sample.length * 0.2;
  if (odd > many && even === 0) return "utf-16le";
  return even > many && odd === 0 ? "utf-16be" : undefined;
}

/** Binary data that happens to have no 0 byte. Colour codes of terminals are no sign of it. */
function isMostlyControls(text: string): boolean {
  const sample = text.slice(0, SAMPLE_BYTES);
  // oxlint-disable-next-line no-control-regex -- these are what is counted
  const controls = sample.match(/[\u0000-\u0008\u000e-\u001a\u001c-\u001f\u007f]/gu)?.length ?? 0;
  return controls > sample.length * 0.02;
}

function binary(name: string) {
  return unreadable(
    name,
    "is no text",
    "Text, Markdown, HTML and PDF files can be read; save it as one of them.",
  );
}
