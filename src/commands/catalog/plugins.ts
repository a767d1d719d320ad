/** `/plugins` and `/plugin <slot> <name>`: what prepares the turns of this conversation, and choosing it. */
import { done } from "#src/kernel/envelope.ts";
import { joined, markdownTable } from "#src/kernel/markdown.ts";
import type { Plugin } from "#src/preparation/plugins.ts";
import { SLOTS, type Slot, type UsedPlugin } from "#src/sessions/plugin-choices.ts";
import { refuse, type CommandContext, type PlainCommand } from "../command.ts";
import { firstWord, refuseUsage } from "../parse-command.ts";

/** What a slot does, and who chose its plugin, in words. */
const SLOT_TEXT: Readonly<Record<Slot, string>> = {
  planner: "planner",
  sd: "seed detector",
  kb: "document search",
  gs: "goal solver",
};
const FROM_TEXT: Readonly<Record<UsedPlugin["from"], string>> = {
  session: "you chose it",
  key: "as in the turns before",
  agent: "as the agent has it",
  config: "as configured",
  "built-in": "by itself",
};

export const pluginsCommand: PlainCommand = {
  name: "plugins",
  summary: "List the plugins that prepare a turn, and which of them are used here",
  usage: "/plugins",
  effects: ["reads"],
  async run(_args, { plugins }) {
    const { all, problems, used } = plugins;
    const rows = all.map((plugin) => rowOf(plugin, plugins));
    const passed = SLOTS.flatMap((slot) => used[slot]?.instead ?? []);
    const notes = [
      ...(used.sd === undefined ? ["Nothing is noted of what you say: units.extract is off."] : []),
      ...passed.map(({ name, why }) => `${name} cannot be used here: ${why}.`),
      ...problems.map(({ path, reason }) => `Left out: ${path}: ${reason}.`),
    ];
    const table = markdownTable(
      ["slot", "plugin", "what it does", ""],
      rows.map(({ slot, name, used: isUsed, from, description }) => [
        `${slot} (${SLOT_TEXT[slot]})`,
        isUsed ? `${name} ●` : name,
        description,
        from === null ? "" : FROM_TEXT[from],
      ]),
    );
    const names = SLOTS.flatMap((slot) => used[slot]?.name ?? []);
    return done("plugins", `Each turn is prepared by ${names.join(", ")}.`, {
      next: "/plugin <slot> <name> chooses one, /plugin <slot> reset goes by the configuration again.",
      data: { plugins: rows, problems },
      body: joined([table, notes.join("\n")], "\n\n"),
    });
  },
};

const USAGE = `/plugin <${SLOTS.join("|")}> <name|reset>`;

export const pluginCommand: PlainCommand = {
  name: "plugin",
  summary: "Choose a plugin that prepares your turns, here and in later conversations",
  usage: USAGE,
  effects: ["session"],
  async run(args, { plugins }) {
    const { word, rest } = firstWord(args);
    const slot = SLOTS.find((known) => known === word.toLowerCase()) ?? refuseUsage("which slot?", USAGE);
    const wanted = rest.trim().toLowerCase();
    if (wanted === "") refuseUsage("which plugin?", USAGE);
    if (wanted === "reset")
      return {
        envelope: done("plugin_reset", `The ${SLOT_TEXT[slot]} goes by the configuration again.`, {
          data: { slot },
        }),
        changes: { plugins: { [slot]: null } },
      };
    const ofSlot = plugins.all.filter((plugin) => plugin.slot === slot);
    const plugin =
      ofSlot.find(({ name }) => name === wanted) ??
      refuse("plugin_unknown", `there is no plugin ${JSON.stringify(wanted.slice(0, 80))} for ${slot}`, {
        next: `There are: ${ofSlot.map(({ name }) => name).join(", ")}.`,
      });
    const why = plugins.objection(plugin);
    if (why !== undefined)
      refuse("plugin_unavailable", `${plugin.name} cannot be used: ${why}`, {
        next: "Nothing was changed. /plugins lists the others.",
      });
    const message = `${plugin.name} is the ${SLOT_TEXT[slot]} from now on: it ${plugin.description}.`;
    return {
      envelope: done("plugin_set", message, { data: { slot, name: plugin.name } }),
      changes: { plugins: { [slot]: plugin.name } },
    };
  },
};

function rowOf({ slot, name, description, source }: Plugin, { used }: CommandContext["plugins"]) {
  const chosen = used[slot]?.name === name ? used[slot] : undefined;
  return {
    slot,
    name,
    description,
    used: chosen !== undefined,
    from: chosen?.from ?? null,
    source: source ?? null,
  };
}
