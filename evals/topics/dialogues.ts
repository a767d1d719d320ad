/** Labelled dialogues: public data sets from files, as messages with the places where the topic changes. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { z } from "zod";

/** A dialogue; `starts[i]` says whether message `i` begins a topic. The first one never counts. */
export interface Dialogue {
  readonly messages: readonly string[];
  readonly starts: readonly boolean[];
}

/** Schema of a file of dialogues: each message, and how many messages each topic has. */
const fileSchema = z.array(
  z.object({
    utterances: z.array(z.string()).min(1),
    segments: z.array(z.int().min(1)).min(1),
    set: z.enum(["train", "dev", "test"]),
  }),
);

/** Which part of a data set. */
export type Split = "train" | "dev" | "test";

/** Files that are read, with where they come from and under which licence. */
export const DATA_FILES = { tiage: "tiage.hub.json.gz", dialseg711: "dialseg711.hub.json.gz" } as const;

/** A data set by its split, or `undefined` when its file is not in `folder`. */
export function readDialogues(
  folder: string,
  name: keyof typeof DATA_FILES,
): Record<Split | "all", Dialogue[]> | undefined {
  const path = join(folder, DATA_FILES[name]);
  if (!existsSync(path)) return undefined;
  const rows = fileSchema.parse(JSON.parse(gunzipSync(readFileSync(path)).toString("utf8")));
  const of = (split: Split) => rows.filter((row) => row.set === split).map(dialogueOf);
  return { train: of("train"), dev: of("dev"), test: of("test"), all: rows.map(dialogueOf) };
}

function dialogueOf(row: z.infer<typeof fileSchema>[number]): Dialogue {
  const firsts = new Set<number>();
  let first = 0;
  for (const length of row.segments) {
    firsts.add(first);
    first += length;
  }
  return {
    messages: row.utterances,
    starts: row.utterances.map((_, index) => index > 0 && firsts.has(index)),
  };
}

/**
 * What one of two speakers who take turns says, as Lily is shown only the user's messages. A topic that began with
 * the other speaker's message begins, as far as can be seen, with the next one of this speaker.
 */
export function oneSpeaker({ messages, starts }: Dialogue, speaker: 0 | 1): Dialogue {
  const own = messages.map((_, index) => index).filter((index) => index % 2 === speaker);
  return {
    messages: own.map((index) => messages[index] ?? ""),
    starts: own.map((index, place) => place > 0 && (starts[index] === true || (starts[index - 1] ?? false))),
  };
}

/** The dialogue of messages that are listed topic by topic. */
export function dialogueOfTopics(topics: readonly (readonly string[])[]): Dialogue {
  return {
    messages: topics.flat(),
    starts: topics.flatMap((topic, at) => topic.map((_, index) => at > 0 && index === 0)),
  };
}
