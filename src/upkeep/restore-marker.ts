/** The note that a restore is under way; one that is found later tells of a restore that was cut off. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { STAGING } from "./home-files.ts";
import { syncPath } from "./whole-file.ts";

const markerSchema = z.strictObject({
  /** The backup that was being put in place. */
  backup: z.string(),
  startedAt: z.string(),
  /** Copies that were not in place yet. */
  staged: z.array(z.string()),
});

/** A restore that began. */
export type RestoreMarker = z.infer<typeof markerSchema>;

/** Where the note lies. */
function markerPath(home: string): string {
  return join(home, `${STAGING}marker.json`);
}

/** The note in a home folder, `undefined` when no restore is under way. One that cannot be read says nothing but that. */
export function readMarker(home: string): RestoreMarker | undefined {
  let text: string;
  try {
    text = readFileSync(markerPath(home), "utf8");
  } catch {
    // There is none, which is the rule.
    return undefined;
  }
  try {
    return markerSchema.parse(JSON.parse(text));
  } catch {
    // It was cut off while it was written, so nothing had been touched yet.
    return { backup: "a backup", startedAt: "an unknown time", staged: [] };
  }
}

/** Leaves the note, on the disk itself. */
export function writeMarker(home: string, marker: RestoreMarker): void {
  writeFileSync(markerPath(home), `${JSON.stringify(marker)}\n`, { mode: 0o600, flush: true });
  syncPath(home);
}

/** Takes the note away. */
export function removeMarker(home: string): void {
  rmSync(markerPath(home), { force: true });
  syncPath(home);
}
