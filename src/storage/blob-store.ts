/** Blobs on a LangGraph `BaseStore`: one item a content hash in the namespace of the owner. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { z } from "zod";
import { LilyError } from "#src/kernel/errors.ts";
import type { Blob, BlobStore } from "#src/sessions/repository.ts";
import { sha256Of } from "#src/sessions/seal.ts";
import { blobNamespace } from "./session-namespaces.ts";

const blobItemSchema = z.object({ v: z.literal(1), mimeType: z.string(), base64: z.string() });

/** Makes the blobs that live in `store`. */
export function createBlobStore(store: BaseStore): BlobStore {
  return {
    async keep(owner, blob) {
      const sha256 = sha256Of(blob.bytes);
      // What is there is the same: a put would only write the same megabytes again.
      const known = await store.get(blobNamespace(owner), sha256);
      if (known === null || known === undefined) {
        const item = { v: 1, mimeType: blob.mimeType, base64: Buffer.from(blob.bytes).toString("base64") };
        await store.put(blobNamespace(owner), sha256, item, false);
      }
      return sha256;
    },
    async read(owner, sha256) {
      const item = await store.get(blobNamespace(owner), sha256);
      return item === null || item === undefined ? undefined : parse(item.value, sha256);
    },
  };
}

function parse(value: unknown, sha256: string): Blob {
  const parsed = blobItemSchema.safeParse(value);
  const bytes = new Uint8Array(Buffer.from(parsed.data?.base64 ?? "", "base64"));
  if (parsed.success && sha256Of(bytes) === sha256) return { mimeType: parsed.data.mimeType, bytes };
  throw new LilyError("record_invalid", `the stored content ${sha256} is not what its hash says`, {
    next: "lily verify names what is damaged; nothing was changed.",
  });
}
