/** Lily's configuration: `config.json` in the home folder, and the environment. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { embedderReference } from "#memory/embedding/embedders.ts";
import { decodeText } from "#src/kernel/decode-text.ts";
import { priceSchema } from "#src/explain/trace.ts";
import { LilyError, errorMessage } from "#src/kernel/errors.ts";
import { parseModelReference, printModelReference } from "#src/models/model-reference.ts";
import {
  BUILT_IN,
  rolloverOverridesSchema,
  wholePolicy,
  timeZoneSchema,
} from "#src/sessions/rollover-policy.ts";
import { pluginChoicesSchema } from "#src/sessions/plugin-choices.ts";
import { reasoningSchema, verbositySchema } from "#src/sessions/session-fields.ts";
import { parseOwner, parseSessionKey } from "#src/sessions/session-key.ts";
import { toolRulesSchema } from "#src/tools/policy.ts";
import { mcpServersSchema, toolSettingsSchema } from "#src/tools/tool-settings.ts";
import { arrivalOverridesSchema, arrivalPolicySchema } from "#src/turns/arrivals.ts";
import { homeFolder } from "./home-folder.ts";

/** Text that `parse` takes; what `parse` throws is the reason why not. */
function textThat(parse: (text: string) => string) {
  return z.string().transform((text, context) => {
    try {
      return parse(text);
    } catch (error) {
      context.addIssue({ code: "custom", message: errorMessage(error) });
      return z.NEVER;
    }
  });
}

const modelReference = textThat((text) => printModelReference(parseModelReference(text)));

/** A model reference, or the classifier that needs no model. */
const controlModel = z.union([z.literal(BUILT_IN), modelReference]);

const agentSchema = z.strictObject({
  /** Model that answers. */
  model: modelReference.optional(),
  /** Models that are asked in turn when that one has failed; for the turn in hand only. */
  fallbacks: z.array(modelReference).optional(),
  /** Sampling temperature; left out, the server decides. */
  temperature: z.number().min(0).max(2).optional(),
  /** How long a reasoning model thinks, and how long its answers are, where the user has not said so. */
  reasoning: reasoningSchema.optional(),
  verbosity: verbositySchema.optional(),
  /** Window of its model in tokens, in place of what is known of it; the answer's part is taken off. */
  contextTokens: z.int().min(500).optional(),
  /** `false`: its model is offered none, for models that call them badly. Or rules for tools, before those of `tools.policy`. */
  tools: z.union([z.boolean(), toolRulesSchema]).optional(),
  /** Model that takes lifecycle decisions; never the one that answers, unless both are named so. */
  controlModel: controlModel.optional(),
  rollover: rolloverOverridesSchema.optional(),
  /** Plugins of turn preparation by slot; what a person or an earlier turn of a key chose comes first. */
  plugins: pluginChoicesSchema.optional(),
});

/** Schema of `config.json`; every part has a default. */
export const configSchema = z.strictObject({
  /** Whose data it is when nobody logs in. */
  owner: textThat(parseOwner).default("local"),
  /** IANA zone of days and shown times; the machine's own by default. */
  timeZone: timeZoneSchema.optional(),
  /** Names under which commands address this bot in groups. */
  botNames: z.array(z.string().min(1)).default(["lily"]),
  /** Session key of the terminal. */
  defaultKey: textThat(parseSessionKey).default("cli:main"),
  storage: z
    .strictObject({
      /** `postgres` is at `LILY_POSTGRES_URL`, which holds a password and so is no part of this file. */
      backend: z.enum(["sqlite", "postgres", "memory"]).default("sqlite"),
      /** Schema of the tables on PostgreSQL. */
      schema: z
        .string()
        .regex(/^[a-z_][a-z0-9_]{0,62}$/u, "use lower case letters, digits and _")
        .default("public"),
      /** Paths are relative to the home folder. */
      checkpoints: z.string().min(1).default("checkpoints/checkpointer.sqlite"),
      store: z.string().min(1).default("memory/store.sqlite"),
      /** Turns whose checkpoints are kept for replay. */
      keepTurns: z.int().min(1).default(20),
    })
    .prefault({}),
  lifecycle: z
    .strictObject({
      /** `legacy`: one session a key, and `/new` clears its context in place. */
      mode: z.enum(["segmented", "legacy"]).default("segmented"),
    })
    .prefault({}),
  rollover: rolloverOverridesSchema
    .omit({ timeZone: true })
    .prefault({})
    .transform((given) => {
      const { timeZone: _ofTheMachine, ...rules } = wholePolicy(given);
      return rules;
    }),
  /** Rules by prefix of the session key; the longest that fits has the last word. */
  keys: z
    .array(
      z.strictObject({
        prefix: z.string(),
        rollover: rolloverOverridesSchema.optional(),
        arrivals: arrivalOverridesSchema.optional(),
        /** People answer there, and no assistant: `/recall` counts what they say as much. Of what is said from then on. */
        people: z.boolean().optional(),
        /** Whose facts and documents the key reads and keeps: the owner's, its own, or none. */
        memory: z.enum(["shared", "own", "none"]).optional(),
      }),
    )
    .default([]),
  /** What happens to a message that arrives while a turn runs on its key. */
  arrivals: arrivalPolicySchema.prefault({}),
  /** Agents by name; `defaults` holds for all. */
  agents: z.record(z.string(), agentSchema).default({}),
  /** What is known of models, by their references. */
  models: z.record(modelReference, z.strictObject({ price: priceSchema.optional() })).default({}),
  /** Modules with plugins of turn preparation, by their paths from the home folder. */
  plugins: z.array(z.string().min(1)).default([]),
  memory: z
    .strictObject({
      /** Off: nothing is remembered or read; what was remembered stays. */
      enabled: z.boolean().default(true),
      /** The reply model is offered tools that search memory and write to it. */
      tool: z.boolean().default(false),
      /** Makes vectors for search by meaning; `none`: search goes by words. */
      embedder: textThat(embedderReference).default("none"),
      /** Length of the vectors, for models that can be asked for shorter ones. */
      dimensions: z.int().min(8).max(8_192).optional(),
    })
    .prefault({}),
  units: z
    .strictObject({
      /** `model`: the control model takes knowledge units from each message, where one is configured; else its sentences. */
      extract: z.enum(["off", "symbolic", "model"]).default("model"),
    })
    .prefault({}),
  /** MCP servers by name, in the form that other programs use. */
  mcpServers: mcpServersSchema,
  tools: toolSettingsSchema,
  /** `lily serve`. */
  server: z
    .strictObject({
      /** Longest body of a request; a picture of the largest size has room as base64. */
      bodyBytes: z.int().min(1).default(8_000_000),
      /** Of one API key or token; 0 is no limit. Left out, it goes by whether there is a login. */
      requestsPerMinute: z.int().min(0).optional(),
      /** Turns of one API key or token that run or wait at once; 0 is no limit. */
      turnsAtOnce: z.int().min(0).optional(),
      /** Origins of web pages that may read the answers. */
      corsOrigins: z
        .array(
          z
            .string()
            .refine((text) => URL.parse(text)?.origin === text, "is no origin such as https://chat.example"),
        )
        .default([]),
    })
    .prefault({}),
  limits: z
    .strictObject({
      /** Longest message in UTF-16 code units. */
      messageCharacters: z.int().min(1).default(32_000),
      /** Of pictures and files in one message, and in one part of a tool result. */
      attachmentBytes: z.int().min(0).default(5_000_000),
      /** In UTF-16 code units; a longer tool result is kept beside the conversation, which has its ends. */
      toolResultCharacters: z.int().min(1_000).default(16_000),
      /** Of committed turns in the state's `messages`; left out, it goes by who is shown them. */
      windowCharacters: z.int().min(0).optional(),
      /** Most tokens of a prompt; 12 000, where no window is set for the agent either. */
      contextTokens: z.int().min(500).optional(),
      /** Remembered facts in the prompt; they count against `contextTokens`. */
      memoryTokens: z.int().min(0).default(800),
      /** Passages of evidence in the prompt; they count against `contextTokens`. */
      evidenceTokens: z.int().min(0).default(1_200),
      /** In one turn. */
      modelCalls: z.int().min(1).max(40).default(8),
      // Each is a step of its own: with the model's calls they stay below the steps that one run may take.
      toolCalls: z.int().min(1).max(50).default(24),
      /** Read and written by models in one turn; 0 is no limit. */
      turnTokens: z.int().min(0).default(200_000),
      /** Time that models and tools take in one turn; 0 is no limit. */
      turnMs: z.int().min(0).max(86_400_000).default(300_000),
    })
    .prefault({}),
});

/** Lily's configuration. */
export type Config = z.infer<typeof configSchema>;

/** Environment variables as a value. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A configuration with the folder that it is for. */
export interface LoadedConfig {
  readonly home: string;
  /** Where the program was started. */
  readonly workspace: string;
  readonly config: Config;
}

/** @throws {LilyError} `config_invalid` when the home folder is a file */
export function assertFolder(home: string): void {
  if (statSync(home, { throwIfNoEntry: false })?.isDirectory() !== false) return;
  throw new LilyError("config_invalid", `the home folder ${home} is a file`, {
    next: "Set LILY_HOME to a folder; one that does not exist is made.",
  });
}

/**
 * Reads the configuration of the home folder: `LILY_HOME`, by default `.lily` in `cwd`.
 *
 * @throws {LilyError} `config_invalid`, naming the file and the key
 */
export function loadConfig(env: Environment, cwd: string): LoadedConfig {
  const home = homeFolder(env, cwd);
  assertFolder(home);
  const path = join(home, "config.json");
  const parsed = configSchema.safeParse(existsSync(path) ? readJson(path) : {});
  if (parsed.success) return { home, workspace: cwd, config: parsed.data };
  throw new LilyError("config_invalid", `${path} is not valid: ${z.prettifyError(parsed.error)}`, {
    next: "Correct the file, or move it away to use the defaults.",
  });
}

/** JSON that a person may have written, in whatever encoding the editor marked. */
function readJson(path: string): unknown {
  try {
    const { text, problem } = decodeText(readFileSync(path));
    if (text === undefined) throw new Error(`it ${problem}`);
    return JSON.parse(text);
  } catch (error) {
    throw new LilyError("config_invalid", `${path} cannot be read: ${errorMessage(error)}`, {
      next: "Correct the file, or move it away to use the defaults.",
    });
  }
}
