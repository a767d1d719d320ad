/** `/style`, `/reasoning` and `/verbosity`: how the user wants to be answered, in this session and those after it. */
import type { z } from "zod";
import { done } from "#src/kernel/envelope.ts";
import { reasoningSchema, verbositySchema } from "#src/sessions/session-fields.ts";
import { denialEnvelope } from "#memory/policy/verdict.ts";
import type { CommandOutcome, PlainCommand } from "../command.ts";
import { usageEnvelope } from "../parse-command.ts";

/** Longest wishes, in UTF-16 code units: they stand in every prompt. */
const MAX_STYLE = 500;

/** Its words come before the persona. */
export const styleCommand: PlainCommand = {
  kind: "plain",
  name: "style",
  summary: "Show or say how you want to be answered; it comes before the persona",
  usage: "/style [text|reset]",
  effects: ["reads", "session"],
  onlyReads: (args) => args === "",
  async run(args, { session, gate }): Promise<CommandOutcome> {
    const { style = null } = session;
    if (args === "") {
      const message =
        style === null ? "You have said nothing about style." : `You want to be answered so: ${style}`;
      return { envelope: done("style", message, { next: NEXT_STYLE, data: { style } }) };
    }
    if (args.toLowerCase() === "reset")
      return { envelope: done("style_reset", "Your wishes about style are gone."), changes: { style: null } };
    const verdict = await gate(args);
    if (verdict.action === "deny") return { envelope: denialEnvelope(verdict.denial) };
    const wishes = verdict.text.replaceAll(/\s+/gu, " ");
    if (wishes.length > MAX_STYLE) {
      const problem = `style has at most ${MAX_STYLE} characters, this has ${wishes.length}`;
      return {
        envelope: usageEnvelope(problem, "/style <text> or /style reset; more has room in persona/USER.md"),
      };
    }
    const message = "From now on you are answered so, in this conversation and those after it.";
    return {
      envelope: done("style_set", message, { next: NEXT_STYLE, data: { style: wishes } }),
      changes: { style: wishes },
    };
  },
};

const NEXT_STYLE = "/style <text> changes it, /style reset takes it back.";

/** How long a reasoning model thinks. */
export const reasoningCommand = levelCommand("reasoning", {
  schema: reasoningSchema,
  summary: "Show or choose how long a reasoning model thinks",
  what: "how long it thinks",
});

/** How long answers are. */
export const verbosityCommand = levelCommand("verbosity", {
  schema: verbositySchema,
  summary: "Show or choose how long answers are",
  what: "how long answers are",
});

function levelCommand<Level extends string>(
  name: "reasoning" | "verbosity",
  {
    schema,
    summary,
    what,
  }: { readonly schema: z.ZodEnum<Record<Level, Level>>; readonly summary: string; readonly what: string },
): PlainCommand {
  const usage = `/${name} [${schema.options.join("|")}|reset]`;
  return {
    kind: "plain",
    name,
    summary,
    usage,
    effects: ["reads", "session"],
    onlyReads: (args) => args === "",
    async run(args, { session, configured }) {
      const chosen = session.modelConfig[name];
      const current = chosen ?? configured[name] ?? null;
      const origin = chosen === undefined ? ", as configured" : "";
      if (args === "") {
        const message = current === null ? `The model decides ${what}.` : `${name} is ${current}${origin}.`;
        return { envelope: done(name, message, { next: usage, data: { [name]: current } }) };
      }
      if (args.toLowerCase() === "reset") {
        const level = configured[name];
        const again =
          level === undefined
            ? `The model decides ${what} again.`
            : `${name} is ${level} again, as configured.`;
        return { envelope: done(`${name}_reset`, again), changes: { [name]: null } };
      }
      const level = schema.safeParse(args.toLowerCase());
      if (!level.success)
        return { envelope: usageEnvelope(`${JSON.stringify(args.slice(0, 40))} is no level`, usage) };
      const message = `${name} is ${level.data} from now on, where the model takes it.`;
      return {
        envelope: done(`${name}_set`, message, { data: { [name]: level.data } }),
        changes: { [name]: level.data },
      };
    },
  };
}
