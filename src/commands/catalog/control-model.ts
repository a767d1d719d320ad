/** `/control-model [name|reset]`: which model takes lifecycle decisions in this session and those after it. */
import { done, envelopeOf } from "#src/kernel/envelope.ts";
import { BUILT_IN } from "#src/sessions/rollover-policy.ts";
import { controlModelText } from "#src/explain/verdict-text.ts";
import type { CommandContext, CommandOutcome, PlainCommand } from "../command.ts";

export const controlModelCommand: PlainCommand = {
  kind: "plain",
  name: "control-model",
  summary: "Show or choose the model that decides whether the topic changed",
  usage: "/control-model [name|built-in|reset]",
  effects: ["reads", "session"],
  async run(args, context) {
    if (args === "") return { envelope: current(context) };
    if (args.toLowerCase() === "reset") {
      return {
        envelope: done("control_model_reset", "The configured control model decides again."),
        changes: { controlModel: null },
      };
    }
    return choose(args, context);
  },
};

function current({ controlModel, policy }: CommandContext) {
  const use = policy.semantic.enabled ? "" : " It is not asked: rollover by topic is off.";
  return done("control_model", `${controlModelText(controlModel)}.${use}`, {
    next: "/control-model <name> chooses one, /control-model reset goes back to the configured one.",
    data: { model: controlModel.model, level: controlModel.level, asked: policy.semantic.enabled },
  });
}

function choose(args: string, { normalizeModel }: CommandContext): CommandOutcome {
  try {
    const controlModel = args.toLowerCase() === BUILT_IN ? BUILT_IN : normalizeModel(args);
    return {
      envelope: done(
        "control_model_set",
        `${controlModel} decides from now on; which model answers stays as it is.`,
        {
          data: { model: controlModel },
        },
      ),
      changes: { controlModel },
    };
  } catch (error) {
    return { envelope: envelopeOf(error) };
  }
}
