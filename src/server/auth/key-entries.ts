/** What an API key looks like, and the lists of keys that a server accepts: in a file, and in the environment. Neither holds a key, only hashes. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { errorMessage, LilyError } from "#src/kernel/errors.ts";
import { parseOwner } from "#src/sessions/session-key.ts";

/** `lily_` and 32 random bytes as base64url. */
const API_KEY = /^lily_[A-Za-z0-9_-]{43}$/u;

/** Form of a kept hash. SHA-256 is enough: a key has 256 random bits, there is nothing to guess or to look up. */
const KEY_HASH = /^sha256:[0-9a-f]{64}$/u;

/** Makes a key from 32 random bytes. */
export function newApiKey(random: (size: number) => Buffer = randomBytes): string {
  return `lily_${random(32).toString("base64url")}`;
}

/** Whether `text` has the form of a key. */
export function isApiKey(text: string): boolean {
  return API_KEY.test(text);
}

/** The hash of a key, as it is kept: `sha256:` and 64 hex digits. */
export function hashApiKey(key: string): string {
  return `sha256:${createHash("sha256").update(key).digest("hex")}`;
}

/** Whether two hashes are equal; takes the same time wherever they differ. */
export function isSameHash(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

const ownerSchema = z.string().transform((text, context) => {
  try {
    return parseOwner(text);
  } catch (error) {
    context.addIssue({ code: "custom", message: errorMessage(error) });
    return z.NEVER;
  }
});

const keyEntrySchema = z.strictObject({
  owner: ownerSchema,
  hash: z.string().regex(KEY_HASH, "is not sha256: and 64 hex digits in lower case"),
  /** Words by which a person knows the key. */
  label: z.string().trim().min(1).max(100).optional(),
  /** Instant from which on the key is refused. */
  expires: z.iso.datetime({ offset: true }).optional(),
});

/** One key: whose it is, and its hash. */
export type KeyEntry = z.infer<typeof keyEntrySchema>;

/** Schema of the key file. */
export const keyFileSchema = z
  .array(keyEntrySchema)
  .refine((entries) => new Set(entries.map(({ hash }) => hash)).size === entries.length, {
    message: "two entries have the same hash",
  });

/**
 * The keys of `LILY_API_KEYS`: `owner=sha256:<hex>`, separated by commas or line breaks, the owner percent-encoded.
 *
 * @throws {LilyError} `config_invalid`, with the number of the entry and never its text, which may be a key
 */
export function parseKeyList(text: string): KeyEntry[] {
  return text
    .split(/[\n,]/u)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
    .map((entry, index) => {
      const [, owner = "", hash = ""] = /^([^=]+)=(sha256:[0-9A-Fa-f]{64})$/u.exec(entry) ?? [];
      const parsed = keyEntrySchema.safeParse({ owner: decoded(owner), hash: hash.toLowerCase() });
      if (parsed.success) return parsed.data;
      throw new LilyError("config_invalid", `entry ${index + 1} of LILY_API_KEYS is not owner=sha256:<hex>`, {
        next: "lily keys new <owner> makes a key and prints its hash; percent-encode the owner.",
      });
    });
}

/** The hash of the operator's key in `LILY_OPERATOR_KEY`; `undefined` where there is none. @throws {LilyError} `config_invalid` */
export function parseOperator(text = ""): string | undefined {
  const hash = text.trim().toLowerCase();
  if (hash === "" || KEY_HASH.test(hash)) return hash || undefined;
  throw new LilyError("config_invalid", "LILY_OPERATOR_KEY is not sha256:<hex>", {
    next: "lily keys new operator makes a key and prints its hash.",
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // No owner, which the schema says.
    return "";
  }
}
