/** Finds secrets and sensitive numbers in a long text: the same rules as for a fact, over parts that overlap. */
import { findShown } from "../policy/find-secrets.ts";
import type { SecretScanner } from "../policy/secret-scanner.ts";
import type { Finding } from "../policy/verdict.ts";

/** Small, because some rules compare every word of a part with every other. */
const PART_CHARACTERS = 16_000;
/** Longer than a private key: one that begins in a part ends in it, or stands whole in the next. */
const OVERLAP_CHARACTERS = 4_000;

/** Findings in the whole of `text`. One that stands in two parts is found twice. */
export async function findSensitive(text: string, scan: SecretScanner): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { start, end } of partsOf(text)) {
    const found = await findShown(text.slice(start, end), scan);
    findings.push(...found.map((one) => ({ ...one, start: one.start + start, end: one.end + start })));
  }
  return findings;
}

/** Parts that begin where a line does, if there are lines. */
function* partsOf(text: string): Generator<{ readonly start: number; readonly end: number }> {
  for (let start = 0; start < text.length;) {
    const end = Math.min(text.length, start + PART_CHARACTERS);
    yield { start, end };
    if (end === text.length) return;
    const overlap = end - OVERLAP_CHARACTERS;
    const feed = text.lastIndexOf("\n", overlap);
    start = feed > start ? feed + 1 : overlap;
  }
}
