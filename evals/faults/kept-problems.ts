/** What holds of all that is kept beside conversations: pictures, and facts in memory. */
import { createBlobStore } from "#src/storage/blob-store.ts";
import type { Scenario } from "./scenarios.ts";
import { turnsOf, type StoredKey } from "./stored.ts";
import { OWNER, type Subject } from "./subject.ts";

/** The content of every picture that a turn names is stored. */
export async function pictureProblems({ storage }: Subject, stored: StoredKey): Promise<string[]> {
  const blobs = createBlobStore(storage.store);
  const problems: string[] = [];
  for (const { deliveryId, messages } of turnsOf(stored)) {
    for (const attachment of messages.flatMap(({ attachments = [] }) => attachments)) {
      const content = "sha256" in attachment ? await blobs.read(OWNER, attachment.sha256) : undefined;
      if (content === undefined) problems.push(`the picture of delivery ${deliveryId} is lost`);
    }
  }
  return problems;
}

/** Memory holds as many facts as it should. */
export async function factProblems({ storage }: Subject, { facts = 0 }: Scenario): Promise<string[]> {
  const items = await storage.store.search(["memory"], { limit: 100 });
  const texts = items.flatMap(({ value }) => (typeof value["text"] === "string" ? [value["text"]] : []));
  return texts.length === facts ? [] : [`memory holds ${JSON.stringify(texts)}, not ${facts} facts`];
}
