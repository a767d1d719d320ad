/** What the person sets for a conversation: `/model`, `/control-model`, `/style`, `/reasoning`, `/verbosity`, `/rollover`; and `/title`. */
import type { z } from "zod";
import { controlModelText } from "#src/explain/verdict-text.ts";
import { durationText } from "#src/explain/duration-text.ts";
import { done, type Envelope } from "#src/kernel/envelope.ts";
import { toStorableText } from "#src/kernel/json.ts";
import { quoted } from "#src/kernel/markdown.ts";
import {
  BUILT_IN,
  rolloverOverridesSchema,
  withOverrides,
  type RolloverOverrides,
  type RolloverPolicy,
} from "#src/sessions/rollover-policy.ts";
import { reasoningSchema, verbositySchema } from "#src/sessions/session-fields.ts";
import { refuse, type CommandContext, type CommandOutcome, type PlainCommand } from "../command.ts";
import { firstWord, refuseUsage } from "../parse-command.ts";
import { allowedText } from "../allowed-text.ts";

interface Setting extends Pick<PlainCommand, "name" | "summary" | "usage"> {
  /** Told where no value is given, and then nothing changes. */
  show(context: CommandContext): Envelope;
  /** What the word `reset` does; without it that is a value as any other. */
  reset?(context: CommandContext): CommandOutcome;
  set(value: string, context: CommandContext): CommandOutcome | Promise<CommandOutcome>;
}

/** A setting of the session, which those after it take over. */
function settingCommand({ show, reset, set, ...words }: Setting): PlainCommand {
  return {
    ...words,
    effects: ["reads", "session"],
    onlyReads: (args) => args === "",
    async run(args, context) {
      if (args === "") return show(context);
      return reset !== undefined && args.toLowerCase() === "reset" ? reset(context) : set(args, context);
    },
  };
}

/** Which model answers. */
export const modelCommand = settingCommand({
  name: "model",
  summary: "Show or choose the model that answers",
  usage: "/model [name|reset]",
  show({ solver, session: { modelConfig } }) {
    const how = modelConfig.chosen ? "you chose it" : "as configured";
    const message =
      solver === "symbolic"
        ? "No model answers; the built-in solver quotes what this conversation says."
        : `${solver} answers (${how}).`;
    return done("model", message, {
      next: "/model <name> chooses one, /model reset goes back to the configured one.",
      data: { model: solver, chosen: modelConfig.chosen },
    });
  },
  reset: () => ({
    envelope: done("model_reset", "The configured model answers again."),
    changes: { model: null },
  }),
  set(name, { normalizeModel, plugins: { used }, solver }) {
    const model = normalizeModel(name);
    // Somebody chose an answer without a model.
    const other = solver === "symbolic" && used.gs?.from !== "built-in" ? used.gs : undefined;
    const envelope =
      other === undefined
        ? done("model_set", `${model} answers from now on.`, { data: { model } })
        : done("model_set", `${model} is the model from now on.`, {
            next: `${other.name} answers until then: /plugin gs gs-model lets the model answer.`,
            data: { model },
          });
    return { envelope, changes: { model } };
  },
});

/** Which model takes lifecycle decisions. */
export const controlModelCommand = settingCommand({
  name: "control-model",
  summary: "Show or choose the model that decides whether the topic changed",
  usage: "/control-model [name|built-in|reset]",
  show({ controlModel, policy: { semantic } }) {
    const use = semantic.enabled ? "" : " It is not asked: rollover by topic is off.";
    return done("control_model", `${controlModelText(controlModel)}.${use}`, {
      next: "/control-model <name> chooses one, /control-model reset goes back to the configured one.",
      data: { model: controlModel.model, level: controlModel.level, asked: semantic.enabled },
    });
  },
  reset: () => ({
    envelope: done("control_model_reset", "The configured control model decides again."),
    changes: { controlModel: null },
  }),
  set(name, { normalizeModel }) {
    const controlModel = name.toLowerCase() === BUILT_IN ? BUILT_IN : normalizeModel(name);
    const message = `${controlModel} decides from now on; which model answers stays as it is.`;
    return {
      envelope: done("control_model_set", message, { data: { model: controlModel } }),
      changes: { controlModel },
    };
  },
});

/** Longest wishes, in UTF-16 code units: they stand in every prompt. */
const MAX_STYLE = 500;
const NEXT_STYLE = "/style <text> changes it, /style reset takes it back.";

/** How the user wants to be answered; the words come before the persona. */
export const styleCommand = settingCommand({
  name: "style",
  summary: "Show or say how you want to be answered; it comes before the persona",
  usage: "/style [text|reset]",
  show({ session: { style = null } }) {
    const message =
      style === null ? "You have said nothing about style." : `You want to be answered so: ${style}`;
    return done("style", message, { next: NEXT_STYLE, data: { style } });
  },
  reset: () => ({
    envelope: done("style_reset", "Your wishes about style are gone."),
    changes: { style: null },
  }),
  async set(text, context) {
    const style = (await allowedText(text, context)).replaceAll(/\s+/gu, " ");
    if (style.length > MAX_STYLE)
      refuseUsage(
        `style has at most ${MAX_STYLE} characters, this has ${style.length}`,
        "/style <text> or /style reset; more has room in persona/USER.md",
      );
    const message = "From now on you are answered so, in this conversation and those after it.";
    return {
      envelope: done("style_set", message, { next: NEXT_STYLE, data: { style } }),
      changes: { style },
    };
  },
});

export const reasoningCommand = levelCommand("reasoning", reasoningSchema, {
  summary: "Show or choose how long a reasoning model thinks",
  what: "how long it thinks",
});

export const verbosityCommand = levelCommand("verbosity", verbositySchema, {
  summary: "Show or choose how long answers are",
  what: "how long answers are",
});

function levelCommand<Level extends string>(
  name: "reasoning" | "verbosity",
  schema: z.ZodEnum<Record<Level, Level>>,
  { summary, what }: { readonly summary: string; readonly what: string },
): PlainCommand {
  const usage = `/${name} [${schema.options.join("|")}|reset]`;
  return settingCommand({
    name,
    summary,
    usage,
    show({ session: { modelConfig }, configured }) {
      const level = modelConfig[name] ?? configured[name] ?? null;
      const origin = modelConfig[name] === undefined ? ", as configured" : "";
      const message = level === null ? `The model decides ${what}.` : `${name} is ${level}${origin}.`;
      return done(name, message, { next: usage, data: { [name]: level } });
    },
    reset({ configured }) {
      const level = configured[name];
      const again =
        level === undefined
          ? `The model decides ${what} again.`
          : `${name} is ${level} again, as configured.`;
      return { envelope: done(`${name}_reset`, again), changes: { [name]: null } };
    },
    set(value) {
      const level = schema.safeParse(value.toLowerCase());
      if (!level.success) return refuseUsage(`${JSON.stringify(value.slice(0, 40))} is no level`, usage);
      const message = `${name} is ${level.data} from now on, where the model takes it.`;
      return {
        envelope: done(`${name}_set`, message, { data: { [name]: level.data } }),
        changes: { [name]: level.data },
      };
    },
  });
}

/** When the conversation ends by itself. */
export const rolloverCommand = settingCommand({
  name: "rollover",
  summary: "Show or change when this conversation and those after it end by themselves",
  usage: "/rollover [idle <duration>|off | day <HH:MM>|off | topic on|off | off | reset]",
  show: ({ policy }) =>
    done("rollover", `This conversation ${rulesText(policy)}`, {
      next: "/rollover idle 24h, /rollover day 05:00, /rollover topic on, /rollover off, /rollover reset",
    }),
  reset: () => ({
    envelope: done("rollover_reset", "The configured rules hold again, from the next message on."),
    changes: { rollover: null },
  }),
  set(rules, { session, policy }) {
    const rollover = rolloverOverridesSchema.safeParse({ ...session.rollover, ...overridesIn(rules) });
    if (!rollover.success) return refuseRule(rules);
    const message = `For this conversation and those after it: it ${rulesText(withOverrides(policy, rollover.data))}`;
    return { envelope: done("rollover_set", message), changes: { rollover: rollover.data } };
  },
});

function rulesText({ idle, dayBoundary, semantic, timeZone }: RolloverPolicy): string {
  const rules = [
    ...(idle.enabled ? [`after ${durationText(idle.limit)} without a turn`] : []),
    ...(dayBoundary.enabled
      ? [`at ${dayBoundary.at} ${timeZone}, once idle for ${durationText(dayBoundary.minIdle)}`]
      : []),
    ...(semantic.enabled ? [`when the topic changes (threshold ${semantic.threshold.toFixed(2)})`] : []),
  ];
  return rules.length === 0
    ? "ends only when you say /new."
    : `ends ${rules.join(" or ")}; the next message then begins a new one.`;
}

function overridesIn(rules: string): { readonly [rule in keyof RolloverOverrides]?: object } {
  const { word, rest } = firstWord(rules.toLowerCase());
  const value = rest.replaceAll(/\s+/gu, " ");
  const off = { enabled: false };
  switch (word) {
    case "idle":
      return { idle: value === "off" ? off : { enabled: true, limit: value } };
    case "day":
      return { dayBoundary: value === "off" ? off : { enabled: true, at: value } };
    case "topic":
      return value === "on" || value === "off"
        ? { semantic: { enabled: value === "on" } }
        : refuseRule(rules);
    case "off":
      return { idle: off, dayBoundary: off, semantic: off };
    default:
      return refuseRule(rules);
  }
}

function refuseRule(rules: string): never {
  return refuse("command_usage", `${quoted(rules)} is not a rollover rule`, {
    next: "Use /rollover idle 24h, /rollover day 05:00, /rollover topic on, /rollover off or /rollover reset.",
  });
}

/** Longest title, in UTF-16 code units. */
const MAX_TITLE = 120;

/** The name of this session alone. */
export const titleCommand = settingCommand({
  name: "title",
  summary: "Name this conversation",
  usage: "/title [text]",
  show({ session: { title = null } }) {
    const message =
      title === null ? "This conversation has no title." : `This conversation is called “${title}”.`;
    return done("title", message, { next: "/title <text> changes it.", data: { title } });
  },
  set(text) {
    const title = toStorableText(text).replaceAll(/\s+/gu, " ");
    if (title.length > MAX_TITLE)
      refuse("command_usage", `a title has at most ${MAX_TITLE} characters; this has ${title.length}`, {
        next: "Shorten it; nothing was changed.",
      });
    return {
      envelope: done("title_set", `This conversation is now called “${title}”.`, { data: { title } }),
      changes: { title },
    };
  },
});
