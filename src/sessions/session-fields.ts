/** The fields of a session that its state carries: what it is, how it is set up, and its clocks. */
import { z } from "zod";
import { defined } from "#src/kernel/json.ts";
import { heldUnitSchema } from "./knowledge-units.ts";
import { ledgerSchema } from "./ledger.ts";
import { pluginChoicesSchema } from "./plugin-choices.ts";
import { rolloverOverridesSchema } from "./rollover-policy.ts";

const fileProblemSchema = z.strictObject({
  /** Where it is, as people are told. */
  source: z.string(),
  reason: z.string(),
  /** It is as it should be: a skill that another one hides, a picture. */
  isMeant: z.literal(true).optional(),
});

/** Why a file of a persona or a skill was left out. */
export type FileProblem = z.infer<typeof fileProblemSchema>;

/** The resolved skill index as it was when the session began, or when it was reloaded. */
export const skillSnapshotSchema = z.strictObject({
  /** Another one for other skills; `1` without any. */
  snapshot_version: z.string(),
  /** In the order of their names. `hash` is that of a blob with all texts of the skill. */
  skills: z.array(z.strictObject({ name: z.string(), source: z.string(), hash: z.string() })),
  diagnostics: z.array(fileProblemSchema),
  /** The blob with names and descriptions, as models are told of them. */
  listing: z.string().optional(),
});

/** Skills of a session. */
export type SkillSnapshot = z.infer<typeof skillSnapshotSchema>;

/** Who Lily is in a session: files as they were when it began, or when they were reloaded. */
export const personaSchema = z.strictObject({
  /** In the order in which models are given them; each is the blob of that hash. */
  files: z.array(z.strictObject({ name: z.string(), hash: z.string() })),
  diagnostics: z.array(fileProblemSchema),
});

/** Persona of a session. */
export type Persona = z.infer<typeof personaSchema>;

/** Tools of a session that are not Lily's own, as they were when it began, or when they were reloaded. */
export const toolSnapshotSchema = z.strictObject({
  /** By the name of the MCP server, or `built in`; `hash` is that of a blob with all that is told of its tools. */
  sources: z.array(z.strictObject({ name: z.string(), hash: z.string() })),
  /** The blob with the rules for tools; absent where there were none. */
  policy: z.string().optional(),
});

/** Tools of a session. */
export type ToolSnapshot = z.infer<typeof toolSnapshotSchema>;

/** How long a reasoning model thinks; models without reasoning may refuse it. */
export const reasoningSchema = z.enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]);

/** How long answers are. */
export const verbositySchema = z.enum(["low", "medium", "high"]);

/** How a model answers, as far as it is configured or chosen. What is left out, the model or its server decides. */
const manner = { reasoning: reasoningSchema.optional(), verbosity: verbositySchema.optional() };

/** How a model answers, as far as it is configured or chosen. */
export type Manner = z.infer<z.ZodObject<typeof manner>>;

/** Which model answers, and how. */
const modelConfigSchema = z.strictObject({
  /** Model reference; `null` until a model is configured or chosen. */
  model: z.string().nullable(),
  /** The user chose it, so it is carried to the next session. */
  chosen: z.boolean(),
  temperature: z.number().optional(),
  ...manner,
});

/** Fields of a session that its successor begins with. */
const handedOnSchema = z.object({
  activeAgent: z.string(),
  rollover: rolloverOverridesSchema.optional(),
  /** Control model that the user chose, in place of the configured one. */
  controlModel: z.string().optional(),
  /** The task whose memory is read beside that of the person; never another one's. */
  task: z.string().optional(),
  /** The user's wishes about style, in their words, which come before the persona. */
  style: z.string().optional(),
  /** Plugins that the user chose, and those that did their work in a turn of the key after that: its defaults. */
  plugins: pluginChoicesSchema.optional(),
  keyPlugins: pluginChoicesSchema.optional(),
  /** Knowledge bases that are mounted; absent: the default one alone. */
  kbs: z.array(z.string()).optional(),
  /** The user was told that no model is configured. */
  toldNoModel: z.boolean(),
});

/** What a session hands on to its successor. */
export const carriedSchema = z.strictObject({
  ...handedOnSchema.shape,
  /** Chosen by the user; `null` means the configured default. */
  model: z.string().nullable(),
  ...manner,
});

/** Preferences that outlive a session. */
export type Carried = z.infer<typeof carriedSchema>;

/** Schema of {@link CompactedTo}. */
export const compactedToSchema = z.strictObject({
  /** This session, or one that it continues. */
  sessionId: z.string(),
  turn: z.int().min(1),
  /** What the person wanted of the summary. */
  instructions: z.string().optional(),
});

/** The last turn that is told in a summary, with all before it. */
export type CompactedTo = z.infer<typeof compactedToSchema>;

/** Schema of {@link SessionFields}. */
export const sessionFieldsSchema = z.strictObject({
  sessionId: z.string(),
  owner: z.string(),
  sessionKey: z.string(),
  /** The thread was addressed without a session key and is its own key. */
  ownKey: z.boolean(),
  ...handedOnSchema.shape,
  skillSnapshot: skillSnapshotSchema,
  /** Absent where the agent has no files. */
  persona: personaSchema.optional(),
  /** Absent where none are configured. */
  toolSnapshot: toolSnapshotSchema.optional(),
  modelConfig: modelConfigSchema,
  /** Tools that the user lets run without a question; in this session alone. */
  approvedTools: z.array(z.string()).optional(),
  /** Tasks and decisions of the conversation; the next one is not handed them, one that continues it is. */
  ledger: ledgerSchema.optional(),
  /** What was said that may be used again, oldest first; handed on as the ledger is. Absent when there is nothing. */
  units: z.array(heldUnitSchema).optional(),
  /** What is told to models in a summary. */
  compacted: compactedToSchema.optional(),
  /** First turn that a model is given: the working set was cleared in place before it. */
  contextFrom: z.int().optional(),
  /** Turns in which the topic check came to nothing. */
  unknownTopics: z.int().optional(),
  /** What the user calls it; stands in the chain once the session is sealed. */
  title: z.string().optional(),
  createdAt: z.string(),
  /** First committed turn. */
  firstActivityAt: z.string().nullable(),
  /** Latest committed turn: the activity clock. */
  lastActivityAt: z.string().nullable(),
  /** When the next temporal rollover is due. */
  expiresAt: z.string().nullable(),
  /** Committed turns, and the head of their hash chain. */
  turns: z.int(),
  head: z.string(),
});

/** A session as its state carries it. */
export type SessionFields = z.infer<typeof sessionFieldsSchema>;

/** What a session hands on when it ends. */
export function carriedOf(session: SessionFields): Carried {
  const { chosen, model, reasoning, verbosity } = session.modelConfig;
  const handedOn = handedOnSchema.parse(session);
  return defined({ ...handedOn, model: chosen ? model : null, reasoning, verbosity });
}
