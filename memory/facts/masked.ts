/** What leaves the fact store: a secret that an earlier version let in is masked wherever its record is shown. */
import { keepNewest } from "#src/kernel/keep-newest.ts";
import { findSecrets, maskFindings } from "../policy/find-secrets.ts";
import type { SecretScanner } from "../policy/secret-scanner.ts";
import type { MemoryRecord } from "../record.ts";

/** Texts whose masked form is known: the same facts are given again with each turn. */
const MAX_KNOWN = 5_000;

/** Keys and tokens of services are long; what has no such run needs no scanner, which takes half a second to load. */
const LONG_RUN = /\S{12}/u;

/** `text` with the name of its rule in the place of each secret; a scanner that cannot work leaves the other rules. */
export async function maskSecrets(text: string, scan: SecretScanner): Promise<string> {
  const scanned: SecretScanner = async (wanted) =>
    LONG_RUN.test(wanted) ? scan(wanted).catch(() => []) : [];
  return maskFindings(text, await findSecrets(text, scanned));
}

/** Makes what gives an answer of the store back with the text of each record in it masked. */
export function createMask(scan: SecretScanner): <T>(answer: T) => Promise<T> {
  const known = new Map<string, string>();
  const maskText = async (text: string): Promise<string> => {
    const masked = known.get(text) ?? (await maskSecrets(text, scan));
    keepNewest(known, [text, masked], MAX_KNOWN);
    return masked;
  };
  const mask = async (value: unknown): Promise<unknown> => {
    if (Array.isArray(value)) return Promise.all(value.map(mask));
    if (typeof value !== "object" || value === null) return value;
    if (isRecord(value)) return { ...value, text: await maskText(value.text) };
    const parts = Object.entries(value).map(async ([name, part]) => [name, await mask(part)] as const);
    return Object.fromEntries(await Promise.all(parts));
  };
  return async <T>(answer: T) => (await mask(answer)) as T;
}

function isRecord(value: object): value is Pick<MemoryRecord, "text" | "said_by"> {
  return "said_by" in value && "text" in value && typeof value.text === "string";
}
