/** Stores what a message carries, before anything refers to it. */
import { LilyError } from "#src/kernel/errors.ts";
import { attachmentText, isStored } from "#src/sessions/attachment.ts";
import type { BlobStore } from "#src/sessions/blobs.ts";
import type { InboundAttachment } from "./inbound-part.ts";

/**
 * Keeps the bytes, and checks that what comes as a reference is there.
 *
 * @throws {LilyError} `message_invalid` for a reference to nothing, and what the storage says
 */
export async function keepAttachments(
  blobs: BlobStore,
  owner: string,
  attachments: readonly InboundAttachment[],
): Promise<void> {
  for (const { attachment, bytes } of attachments) {
    if (!isStored(attachment)) continue;
    if (bytes !== undefined) await blobs.keep(owner, { mimeType: attachment.mimeType, bytes });
    else if ((await blobs.read(owner, attachment.sha256)) === undefined) {
      const what = `the content of ${attachmentText(attachment)} is not stored`;
      throw new LilyError("message_invalid", what, { next: "Send it itself. The message was not stored." });
    }
  }
}
