/** `/plugins` and `/plugin <slot> <name>`: what prepares the turns of this conversation, and choosing it. */
import { done, refused, type Envelope } from "#src/kernel/envelope.ts";
import { markdownTable } from "#src/kernel/markdown.ts";
import type { Plugin } from "#src/preparation/plugins.ts";
import { SLOTS, type Slot, type UsedPlugin } from "#src/sessions/plugin-choices.ts";
import type { CommandContext, PlainCommand } from "../command.ts";
import { firstWord, usageEnvelope } from "../parse-command.ts";

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
  kind: "plain",
  name: "plugins",
  summary: "List the plugins that prepare a turn, and which of them are used here",
  usage: "/plugins",
  effects: ["reads"],
  async run(_args, { plugins }) {
    const rows = plugins.all.map((plugin) => rowOf(plugin, plugins));
    const { problems } = plugins;
    const left = problems.map(({ path, reason }) => `Left out: ${path}: ${reason}.`);
    const passed = SLOTS.flatMap((slot) => plugins.used[slot]?.instead ?? []);
    const unusable = passed.map(({ name, why }) => `${name} cannot be used here: ${why}.`);
    const off =
      plugins.used.sd === undefined ? ["Nothing is noted of what you say: units.extract is off."] : [];
    const table = markdownTable(
      ["slot", "plugin", "what it does", ""],
      rows.map(({ slot, name, used, from, description }) => [
        `${slot} (${SLOT_TEXT[slot]})`,
        used ? `${name} ●` : name,
        description,
        from === null ? "" : FROM_TEXT[from],
      ]),
    );
    const message = `Each turn is prepared by ${SLOTS.flatMap((slot) => plugins.used[slot]?.name ?? []).join(", ")}.`;
    return {
      envelope: done("plugins", message, {
        next: "/plugin <slot> <name> chooses one, /plugin <slot> reset goes by the configuration again.",
        data: { plugins: rows, problems },
        body: [table, [...off, ...unusable, ...left].join("\n")].filter((part) => part !== "").join("\n\n"),
      }),
    };
  },
};

const USAGE = `/plugin <${SLOTS.join("|")}> <name|reset>`;

export const pluginCommand: PlainCommand = {
  kind: "plain",
  name: "plugin",
  summary: "Choose a plugin that prepares your turns, here and in later conversations",
  usage: USAGE,
  effects: ["session"],
  async run(args, { plugins }) {
    const { word, rest } = firstWord(args);
    const slot = SLOTS.find((known) => known === word.toLowerCase());
    const wanted = rest.trim().toLowerCase();
    if (slot === undefined || wanted === "")
      return { envelope: usageEnvelope(slot === undefined ? "which slot?" : "which plugin?", USAGE) };
    if (wanted === "reset")
      return {
        envelope: done("plugin_reset", `The ${SLOT_TEXT[slot]} goes by the configuration again.`, {
          data: { slot },
        }),
        changes: { plugins: { [slot]: null } },
      };
    const ofSlot = plugins.all.filter((plugin) => plugin.slot === slot);
    const plugin = ofSlot.find(({ name }) => name === wanted);
    if (plugin === undefined) return { envelope: unknownPlugin(slot, wanted, ofSlot) };
    const why = plugins.objection(plugin);
    if (why !== undefined)
      return {
        envelope: refused("plugin_unavailable", `${plugin.name} cannot be used: ${why}`, {
          next: "Nothing was changed. /plugins lists the others.",
        }),
      };
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

function unknownPlugin(slot: Slot, wanted: string, known: readonly Plugin[]): Envelope {
  return refused("plugin_unknown", `there is no plugin ${JSON.stringify(wanted.slice(0, 80))} for ${slot}`, {
    next: `There are: ${known.map(({ name }) => name).join(", ")}.`,
  });
}
