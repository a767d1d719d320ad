/** All slash commands by name. */
import { refused, type Envelope } from "#src/kernel/envelope.ts";
import {
  agentsCommand,
  chooseAgentCommand,
  personaCommand,
  reloadPersonaCommand,
  reloadSkillsCommand,
  skillsCommand,
} from "./catalog/agents.ts";
import { contextCommand } from "./catalog/context.ts";
import { decidedCommand, todoCommand } from "./catalog/ledger.ts";
import { explainCommand } from "./catalog/explain.ts";
import { helpCommand } from "./catalog/help.ts";
import { forgetCommand } from "./catalog/forget.ts";
import { historyCommand } from "./catalog/history.ts";
import { memoryCommand } from "./catalog/memory.ts";
import { reasoningCommand, styleCommand, verbosityCommand } from "./catalog/manner.ts";
import { kbCommand } from "./catalog/kb.ts";
import { modelCommand } from "./catalog/model.ts";
import { compactCommand } from "./catalog/compact.ts";
import { controlModelCommand } from "./catalog/control-model.ts";
import { newCommand } from "./catalog/new.ts";
import { pluginCommand, pluginsCommand } from "./catalog/plugins.ts";
import { recallCommand } from "./catalog/recall.ts";
import { rejoinCommand } from "./catalog/rejoin.ts";
import { rememberCommand } from "./catalog/remember.ts";
import { resumeCommand } from "./catalog/resume.ts";
import { rolloverCommand } from "./catalog/rollover.ts";
import { sessionsCommand } from "./catalog/sessions.ts";
import { statusCommand } from "./catalog/status.ts";
import { stopCommand } from "./catalog/stop.ts";
import { taskCommand } from "./catalog/task.ts";
import { reloadToolsCommand, toolsCommand } from "./catalog/tools.ts";
import { titleCommand } from "./catalog/title.ts";
import { unitsCommand } from "./catalog/units.ts";
import { whyCommand } from "./catalog/why.ts";
import type { Command } from "./command.ts";

/** Every command, in the order in which `/help` lists them. */
export const COMMANDS: readonly Command[] = [
  newCommand,
  stopCommand,
  statusCommand,
  whyCommand,
  explainCommand,
  contextCommand,
  sessionsCommand,
  historyCommand,
  compactCommand,
  recallCommand,
  rememberCommand,
  memoryCommand,
  forgetCommand,
  taskCommand,
  todoCommand,
  decidedCommand,
  unitsCommand,
  rejoinCommand,
  resumeCommand,
  titleCommand,
  modelCommand,
  controlModelCommand,
  pluginsCommand,
  pluginCommand,
  kbCommand,
  agentsCommand,
  chooseAgentCommand,
  personaCommand,
  reloadPersonaCommand,
  skillsCommand,
  reloadSkillsCommand,
  toolsCommand,
  reloadToolsCommand,
  styleCommand,
  reasoningCommand,
  verbosityCommand,
  rolloverCommand,
  helpCommand(() => COMMANDS),
];

/** The command of that name (lower case). */
export function findCommand(name: string): Command | undefined {
  return COMMANDS.find((command) => command.name === name);
}

/** The refusal of a command that does not exist, naming the nearest one that does. */
export function unknownCommand(name: string): Envelope {
  const near = COMMANDS.find((command) => command.name.startsWith(name) || name.startsWith(command.name));
  const hint = near === undefined ? "" : `Did you mean /${near.name}? `;
  return refused("command_unknown", `there is no command /${name}`, {
    next: `${hint}/help lists the commands; to send the text itself, put another / before it.`,
  });
}
