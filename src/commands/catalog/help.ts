/** `/help`: every command with what it does. */
import { done } from "#src/kernel/envelope.ts";
import { markdownTable } from "#src/kernel/markdown.ts";
import type { Command, PlainCommand } from "../command.ts";

/** Makes `/help` for a list of commands. */
export function helpCommand(commands: () => readonly Command[]): PlainCommand {
  return {
    kind: "plain",
    name: "help",
    summary: "List the commands",
    usage: "/help",
    effects: ["reads"],
    async run() {
      const rows = commands().map(({ name, usage, summary, effects }) => ({
        name,
        usage,
        summary,
        effects: [...effects],
      }));
      return {
        envelope: done("help", `${rows.length} commands. Anything else you write is answered.`, {
          data: { commands: rows },
          body: markdownTable(
            ["command", "what it does"],
            rows.map(({ usage, summary }) => [`\`${usage}\``, summary]),
          ),
        }),
      };
    },
  };
}
