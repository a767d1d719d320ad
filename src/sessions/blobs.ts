/** The port to what is too big for a message: bytes and long texts, stored once by their content, by owner. */
import { createHash } from "node:crypto";

/** What is stored under a hash. */
export interface Blob {
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** What persona and skills of a session are stored as: they are named by sessions, and no turn says them. */
export const FROZEN_TYPE = "application/vnd.lily.frozen";

/** Content beside conversations, to be read. */
export interface BlobReader {
  /** `undefined` when the owner has nothing of that hash. @throws {LilyError} `record_invalid` for a damaged item */
  read(owner: string, sha256: string): Promise<Blob | undefined>;
}

/** Content beside conversations. What is stored under a hash never changes. */
export interface BlobStore extends BlobReader {
  /** Stores the content unless it is there, and gives its hash. */
  keep(owner: string, blob: Blob): Promise<string>;
}

/** The name of content: SHA-256 of its bytes, 64 hex digits. */
export function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
