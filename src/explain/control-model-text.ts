/** The control model in plain words. */
import type { ControlModel } from "#src/sessions/verdict.ts";

/** Who decides, and by whose word: `openai:gpt-4o-mini decides (configured for all agents)`. */
export function controlModelText({ level, model }: ControlModel): string {
  const who = level === "built-in" || model === "built-in" ? "The built-in classifier" : model;
  return `${who} decides (${levelText(level)})`;
}

function levelText(level: ControlModel["level"]): string {
  switch (level) {
    case "session":
      return "you chose it";
    case "agent":
      return "configured for this agent";
    case "defaults":
      return "configured for all agents";
    case "built-in":
      return "no control model is configured";
  }
}
