/** Secrets that no word announces: values that a service issues, by the prefix and the randomness that they have. */
import type { Finding } from "./verdict.ts";

// A run that is no part of a longer word, a path or an address; those are read by their parameters alone.
const RUN = /(?<![\p{L}\p{N}/_.@=~+%#-])[A-Za-z0-9][A-Za-z0-9_.:~+/-]{18,}={0,2}/gu;
const ADDRESS = /[a-z][a-z0-9+.-]{1,20}:\/\/\S+|\b(?:magnet|urn):\S+|(?<=base64,)\S+/giu;

/** Identifiers of fixed length in capitals that are known by their first letters alone. */
const KNOWN = /(?<![\p{L}\p{N}])(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![\p{L}\p{N}])/gu;

// Who issued it, and perhaps for what: `npm_`, `sk_live_`, `dop_v1_`, `sk-ant-api03-`, `SG.`.
const ISSUER = /^(?:[A-Za-z]{1,12}\d{0,2}[a-z]{0,4}(?:[_-][A-Za-z]{1,8}\d{0,2}){0,3}|\d{8,10})[_.:-](?=\w)/u;

/** Shapes that are made to be shown: digests, public keys, addresses of wallets and files, pictures. */
const PUBLIC: readonly RegExp[] = [
  /^arn:/iu,
  /^(?:sha|md|blake|crc|ripemd|xxh)\w{0,8}[-_.:]/iu,
  /^(?:AAAA[BCE][23]N|ssh-(?:rsa|dss|ed25519)$|ecdsa-sha2-)/u, // a public key of SSH
  /^0x[0-9a-f]+$/iu,
  /^(?:[13][1-9A-HJ-NP-Za-km-z]{25,34}|bc1[a-z0-9]{20,}|Qm[1-9A-HJ-NP-Za-km-z]{44}|baf[a-z2-7]{50,})$/u,
  /^(?:iVBORw0KGgo|\/9j\/|R0lGOD|UklGR|JVBERi0|PHN2Zy|PD94bWw|data:)/u,
  /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/iu,
  /^[\w-]+(?:\.[a-z]{2,})+(?:[:/]|$)/u, // a host
];

const ISSUED_LENGTH = 20;
/** Names are words with hyphens; of what a machine drew at least one part is as long as this. */
const LONGEST_PART = 12;
const BARE_LENGTH = 32;

/** Letters, capitals and digits change places this often, as a share, where nobody chose them; in words hardly ever. */
const LEAST_CHANGES = 0.35;

/** Findings of values that announce themselves. */
export function findUnannounced(text: string): Finding[] {
  const addresses = [...text.matchAll(ADDRESS)].map(({ 0: found, index }) => [index, index + found.length]);
  const isInside = (at: number): boolean => addresses.some(([from = 0, to = 0]) => at >= from && at < to);
  const runs = [...text.matchAll(RUN)].flatMap(({ 0: found, index }): Finding[] => {
    const value = found.replace(/[.:]+$/u, "");
    return isInside(index) || !isIssued(value)
      ? []
      : [{ rule: "secret_key", start: index, end: index + value.length }];
  });
  return [
    ...runs,
    ...[...text.matchAll(KNOWN)].map(({ 0: found, index }): Finding => ({
      rule: "secret_key",
      start: index,
      end: index + found.length,
    })),
    ...findParameters(text),
  ];
}

/** Whether a run is an issuer's prefix with a random rest, or long and random by itself. */
function isIssued(value: string): boolean {
  if (isPublic(value)) return false;
  const rest = value.slice(ISSUER.exec(value)?.[0].length ?? value.length);
  if (rest.length >= ISSUED_LENGTH && !isPublic(rest) && isRandom(rest)) return true;
  if (/^[0-9a-f-]+$/iu.test(value)) return false;
  return value.length >= BARE_LENGTH && isRandom(value) && !isPath(value);
}

/** Whether a value with strokes reads as a path: a part of it is a word, a file or a number. Base64 has strokes anywhere. */
function isPath(value: string): boolean {
  const parts = value.split("/");
  return (
    parts.length > 1 &&
    (value.length < 40 || parts.some((part) => /^(?:[a-z_-]{3,}|[A-Z]?[a-z]{3,}|\d+|.*\..*)$/u.test(part)))
  );
}

/** Whether a value has a shape that is made to be shown. */
export function isPublic(value: string): boolean {
  return PUBLIC.some((pattern) => pattern.test(value));
}

/** Whether kinds of characters change places as often as in what a machine drew. */
function isRandom(value: string): boolean {
  const kinds = Array.from(value.replaceAll(/[^A-Za-z0-9]/gu, ""), kindOf);
  const changes = kinds.filter((kind, index) => index > 0 && kind !== kinds[index - 1]).length;
  const has = (kind: Kind): boolean => kinds.includes(kind);
  const longest = Math.max(...value.split(/[^A-Za-z0-9]/u).map((part) => part.length));
  if (longest < LONGEST_PART) return false;
  return has("digit") && (has("lower") || has("upper")) && changes >= LEAST_CHANGES * value.length;
}

type Kind = "digit" | "upper" | "lower";

function kindOf(character: string): Kind {
  if (character <= "9") return "digit";
  return character <= "Z" ? "upper" : "lower";
}

// An address that carries its own permission.
const WEBHOOK = /\/(?:web)?hooks?\/[^\s"']*?([\w-]{24,})(?![\w/-])/giu;
const PARAMETER =
  /[?&](?:sig|signature|x-amz-signature|x-goog-signature|access_token|auth_token|id_token|token|api_?key|apikey|client_secret|secret|password|passwd|pwd)=([^&\s#"']{8,})/giu;

function findParameters(text: string): Finding[] {
  return [...text.matchAll(PARAMETER), ...text.matchAll(WEBHOOK)].flatMap(
    ({ 0: found, 1: value = "", index }): Finding[] => {
      const end = index + found.length;
      const isSecret = /\d/u.test(value) && /\p{L}/u.test(value);
      return isSecret ? [{ rule: "credential", start: end - value.length, end }] : [];
    },
  );
}
