/** All slash commands by name; `/help`, which lists them, and `/stop`, which `runTurn` carries out. */
import { done, type Envelope, refused } from "#src/kernel/envelope.ts";
import { markdownTable } from "#src/kernel/markdown.ts";
import {
  agentsCommand,
  chooseAgentCommand,
  personaCommand,
  reloadPersonaCommand,
  reloadSkillsCommand,
  skillsCommand,
} from "./catalog/agents.ts";
import { compactCommand, contextCommand } from "./catalog/context.ts";
import { explainCommand } from "./catalog/explain.ts";
import { forgetCommand } from "./catalog/forget.ts";
import { historyCommand, recallCommand } from "./catalog/history.ts";
import { kbCommand } from "./catalog/kb.ts";
import { decidedCommand, todoCommand } from "./catalog/ledger.ts";
import { memoryCommand } from "./catalog/memory.ts";
import { pluginCommand, pluginsCommand } from "./catalog/plugins.ts";
import { rememberCommand } from "./catalog/remember.ts";
import { newCommand, rejoinCommand, resumeCommand, sessionsCommand } from "./catalog/sessions.ts";
import {
  controlModelCommand,
  modelCommand,
  reasoningCommand,
  rolloverCommand,
  styleCommand,
  titleCommand,
  verbosityCommand,
} from "./catalog/settings.ts";
import { statusCommand } from "./catalog/status.ts";
import { taskCommand } from "./catalog/task.ts";
import { reloadToolsCommand, toolsCommand } from "./catalog/tools.ts";
import { unitsCommand } from "./catalog/units.ts";
import { whyCommand } from "./catalog/why.ts";
import type { Command, PlainCommand } from "./command.ts";

/**
 * Ends the answer that is being written; what there is of it is kept. `runTurn` carries it out, beside the turn that
 * runs. On a thread of a LangGraph server a run of its own comes after the one it is meant for, so there it finds nothing;
 * such clients cancel the run.
 */
export const stopCommand: PlainCommand = {
  name: "stop",
  summary: "Stop the answer that is being written; what there is of it is kept",
  usage: "/stop",
  effects: ["reads"],
  run: async () =>
    done("nothing_running", "Nothing is being answered right now.", { data: { stopped: false } }),
};

const helpCommand: PlainCommand = {
  name: "help",
  summary: "List the commands",
  usage: "/help",
  effects: ["reads"],
  async run() {
    const commands = COMMANDS.map(({ name, usage, summary, effects }) => ({ name, usage, summary, effects }));
    return done("help", `${commands.length} commands. Anything else you write is answered.`, {
      data: { commands },
      body: markdownTable(
        ["command", "what it does"],
        commands.map(({ usage, summary }) => [`\`${usage}\``, summary]),
      ),
    });
  },
};

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
  helpCommand,
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
