/** Names of locks as PostgreSQL takes them: a text for the table of leases, a number for the advisory lock. */
import { createHash } from "node:crypto";

/** A lock in both forms. */
export interface LockId {
  /** Different for different names, without NUL, and short enough for an index. */
  readonly row: string;
  /** A signed 64-bit number as text. Two names that share one wait for each other, which does no harm. */
  readonly advisory: string;
}

const LONGEST_ROW_BYTES = 1_000;

/** The id of the lock `name` in `schema`; schemas of one database do not share locks. */
export function lockIdOf(schema: string, name: string): LockId {
  // JSON writes NUL and halves of surrogate pairs as escapes.
  const text = JSON.stringify(name);
  const isLong = Buffer.byteLength(text) > LONGEST_ROW_BYTES;
  return {
    row: isLong ? `sha256:${sha256(text).toString("hex")}` : text,
    advisory: sha256(JSON.stringify(["lily", schema, name]))
      .readBigInt64BE(0)
      .toString(),
  };
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
