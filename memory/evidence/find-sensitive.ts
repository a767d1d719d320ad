/** Finds secrets and sensitive numbers in a long text: the same rules as for a fact, over parts that overlap. */
import { findCredentials } from "../policy/credential-findings.ts";
import { findNumbers } from "../policy/number-findings.ts";
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
    const found = await findIn(text.slice(start, end), scan);
    findings.push(...found.map((one) => ({ ...one, start: one.start + start, end: one.end + start })));
  }
  return findings;
}

/**
 * Findings that only the compatibility form of `text` shows, e.g. full-width digits. Their ranges are those of another
 * text, so there are none.
 */
export async function findDisguised(text: string, scan: SecretScanner): Promise<Finding["rule"] | undefined> {
  const compatible = text.normalize("NFKC");
  if (countPlain(compatible) === countPlain(text)) return undefined;
  return (await findIn(compatible, scan))[0]?.rule;
}

/** Latin letters and digits: what a secret is written with. */
function countPlain(text: string): number {
  return text.match(/[A-Za-z0-9]/gu)?.length ?? 0;
}

async function findIn(text: string, scan: SecretScanner): Promise<Finding[]> {
  const keys = (await scan(text)).map(({ start, end }): Finding => ({ rule: "secret_key", start, end }));
  return [...findCredentials(text), ...findNumbers(text), ...keys];
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
