/** Measures whether what of the past belongs to a turn of a dialogue is found among all that is remembered of a child. */
import { rankFacts, type Talk } from "#src/context/found-sections.ts";
import type { FactStore } from "#memory/facts/fact-store.ts";
import type { MadialData } from "./data.ts";

/** Shares are from 0 to 1. */
export interface MadialMeasure {
  readonly memories: number;
  readonly turns: number;
  /** Memories that took the place of another one though each tells of its own day. */
  readonly wronglyReplaced: number;
  /** Of the memories that belong to a turn, the share among the first 1, 3, 5, 10 and 20. */
  readonly recall: Readonly<Record<(typeof CUTS)[number], number>>;
  /** Facts that a turn is given, as a mean. */
  readonly given: number;
}

/** As many as a prompt asks for. */
const GIVEN = 12;
const EARLIER = 3;
const CUTS = [1, 3, 5, 10, 20] as const;
const SPEAKER = /^<(?<name>[^>]+)>: *"?(?<text>.*?)"?\s*$/su;

/** Takes the memories in through the one door, each for the child that it names, and asks with what the child has said, as a prompt does. */
export async function measureMadial(facts: FactStore, data: MadialData): Promise<MadialMeasure> {
  const names = new Map(data.dialogues.map((one) => [one["user-id"], nameIn(one.dialogue)]));
  const memories = new Map(data.memories.flatMap((one) => Object.entries(one)));
  const recordIds = new Map<string, string>();
  let wronglyReplaced = 0;
  for (const [id, { time, event }] of memories) {
    for (const owner of new Set(names.values())) {
      if (!event.includes(owner)) continue;
      const text = `${time}: ${event}`;
      const outcome = await facts.remember(
        { owner },
        { text, domain: "user_profile", saidBy: "owner", source: "command" },
      );
      if (!("record" in outcome)) throw new Error(`memory ${id} was not kept: ${outcome.kind}`);
      recordIds.set(`${owner} ${id}`, outcome.record.id);
      wronglyReplaced += "superseded" in outcome ? outcome.superseded.length : 0;
    }
  }
  let given = 0;
  const sums = new Map<number, number>(CUTS.map((cut) => [cut, 0]));
  for (const one of data.dialogues) {
    const owner = names.get(one["user-id"]) ?? "";
    const talk = saidBefore(one.dialogue, one["test-turn"][0] ?? 1, owner);
    const asked = { query: talk.said, earlier: talk.earlier.join("\n"), limit: GIVEN };
    const { relevant: bySaid, byEarlier } = await facts.recall({ owner }, asked);
    const { ranked: relevant } = rankFacts({ bySaid, byEarlier }, talk);
    given += relevant.length / data.dialogues.length;
    const wanted = one["relevant-id"].map((id) => recordIds.get(`${owner} ${id}`));
    for (const cut of CUTS) {
      const first = new Set(relevant.slice(0, cut).map(({ id }) => id));
      const hits = wanted.filter((id) => id !== undefined && first.has(id)).length;
      sums.set(cut, (sums.get(cut) ?? 0) + hits / wanted.length);
    }
  }
  const share = (cut: number): number => (sums.get(cut) ?? 0) / data.dialogues.length;
  return {
    memories: memories.size,
    turns: data.dialogues.length,
    wronglyReplaced,
    recall: { 1: share(1), 3: share(3), 5: share(5), 10: share(10), 20: share(20) },
    given,
  };
}

function nameIn(dialogue: readonly string[]): string {
  const names = dialogue.flatMap((line) => SPEAKER.exec(line)?.groups?.["name"] ?? []);
  return names.find((name) => name !== "Assistant") ?? "";
}

/** The child's last words before line `turn`, and what it said before them, as a prompt goes by them. */
function saidBefore(dialogue: readonly string[], turn: number, name: string): Talk {
  const own = dialogue.slice(0, turn).flatMap((line) => {
    const said = SPEAKER.exec(line)?.groups;
    return said?.["name"] === name ? [said["text"] ?? ""] : [];
  });
  return { said: own.at(-1) ?? "", earlier: own.slice(0, -1).slice(-EARLIER) };
}
