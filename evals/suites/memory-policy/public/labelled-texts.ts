/** Reads the public labelled sets of personal data, from the folder that `LILY_DATA` names. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { z } from "zod";

/** A text and what its authors labelled in it. */
export interface LabelledText {
  readonly text: string;
  readonly spans: readonly { readonly label: string; readonly value: string }[];
}

/** A set in two halves: rules may be changed for what is found in the first, never for the second. */
export interface LabelledSet {
  readonly name: string;
  readonly tune: readonly LabelledText[];
  readonly heldOut: readonly LabelledText[];
}

const presidioSchema = z.array(
  z.object({
    full_text: z.string(),
    spans: z.array(z.object({ entity_type: z.string(), entity_value: z.string() })),
  }),
);
const nanoSchema = z.array(
  z.object({
    text: z.string(),
    NER: z.array(z.object({ label: z.string(), entity: z.string().default("") })),
  }),
);

const FILES = {
  presidio: "presidio_synth_v2.json.gz", // microsoft/presidio-research, MIT
  nano: "pii_syn_nano_en.json.gz", // Nannigalaxy/PII-synthetic_dataset, MIT
} as const;

/** The sets of `folder`; undefined where it lacks one. */
export function readLabelledSets(folder: string): readonly LabelledSet[] | undefined {
  const [presidio, nano] = [join(folder, FILES.presidio), join(folder, FILES.nano)];
  if (!existsSync(presidio) || !existsSync(nano)) return undefined;
  return [
    halvesOf(
      "presidio-research, synthetic",
      presidioSchema.parse(readJson(presidio)).map(({ full_text: text, spans }) => ({
        text,
        spans: spans.map((span) => ({ label: span.entity_type, value: span.entity_value })),
      })),
    ),
    halvesOf(
      "PII synthetic nano, English",
      nanoSchema.parse(readJson(nano)).map(({ text, NER }) => ({
        text,
        spans: NER.map(({ label, entity }) => ({ label, value: entity })),
      })),
    ),
  ];
}

/** The names of the files that {@link readLabelledSets} wants. */
export const LABELLED_FILES: readonly string[] = Object.values(FILES);

function readJson(file: string): unknown {
  return JSON.parse(gunzipSync(readFileSync(file)).toString("utf8"));
}

function halvesOf(name: string, texts: readonly LabelledText[]): LabelledSet {
  return {
    name,
    tune: texts.filter((_text, index) => index % 2 === 0),
    heldOut: texts.filter((_text, index) => index % 2 === 1),
  };
}
