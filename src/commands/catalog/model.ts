/** `/model [reference|reset]`: which model answers in this session and those after it. */
import { done, envelopeOf } from "#src/kernel/envelope.ts";
import type { CommandContext, CommandOutcome, PlainCommand } from "../command.ts";

export const modelCommand: PlainCommand = {
  kind: "plain",
  name: "model",
  summary: "Show or choose the model that answers",
  usage: "/model [name|reset]",
  effects: ["reads", "session"],
  async run(args, context) {
    if (args === "") return { envelope: current(context) };
    if (args.toLowerCase() === "reset") {
      return {
        envelope: done("model_reset", "The configured model answers again."),
        changes: { model: null },
      };
    }
    return choose(args, context);
  },
};

function current({ solver, session }: CommandContext) {
  const how = session.modelConfig.chosen ? "you chose it" : "as configured";
  const message =
    solver === "symbolic"
      ? "No model answers; the built-in solver quotes what this conversation says."
      : `${solver} answers (${how}).`;
  return done("model", message, {
    next: "/model <name> chooses one, /model reset goes back to the configured one.",
    data: { model: solver, chosen: session.modelConfig.chosen },
  });
}

function choose(args: string, { normalizeModel, plugins, solver }: CommandContext): CommandOutcome {
  try {
    const model = normalizeModel(args);
    const gs = plugins.used.gs;
    // Somebody chose an answer without a model.
    const next =
      solver === "symbolic" && gs !== undefined && gs.from !== "built-in"
        ? { next: `${gs.name} answers until then: /plugin gs gs-model lets the model answer.` }
        : {};
    const message = "next" in next ? `${model} is the model from now on.` : `${model} answers from now on.`;
    return {
      envelope: done("model_set", message, { ...next, data: { model } }),
      changes: { model },
    };
  } catch (error) {
    return { envelope: envelopeOf(error) };
  }
}
