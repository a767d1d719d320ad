/** Which plugins prepare the turns of a session: one a slot, by name, and where a choice came from. */
import { z } from "zod";

/** What a turn is prepared by: what it looks for, what is taken from it, how documents are searched, who answers. */
export const SLOTS = ["planner", "sd", "kb", "gs"] as const;

/** A slot. */
export type Slot = (typeof SLOTS)[number];

/** Name of a plugin. */
export const pluginNameSchema = z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/u, "use a-z, 0-9 and -");

/** Schema of {@link PluginChoices}. */
export const pluginChoicesSchema = z.partialRecord(z.enum(SLOTS), pluginNameSchema);

/** Plugins by slot, where somebody chose one. */
export type PluginChoices = z.infer<typeof pluginChoicesSchema>;

/** Schema of {@link UsedPlugin}. */
export const usedPluginSchema = z.strictObject({
  name: z.string(),
  /** Who named it: the person for this session, a turn of the key that succeeded, the agent, all agents, or nobody. */
  from: z.enum(["session", "key", "agent", "config", "built-in"]),
  /** Those that come before it and could not be used, and why. */
  instead: z.array(z.strictObject({ name: z.string(), why: z.string() })).optional(),
});

/** The plugin of a slot in one turn. */
export type UsedPlugin = z.infer<typeof usedPluginSchema>;

/** Schema of {@link UsedPlugins}. */
export const usedPluginsSchema = z.partialRecord(z.enum(SLOTS), usedPluginSchema);

/** The plugins of one turn that are not those which come with Lily and nobody chose. */
export type UsedPlugins = z.infer<typeof usedPluginsSchema>;

/** Name of a knowledge base, in small letters. */
export const kbNameSchema = z.string().regex(/^[\p{Ll}\p{Lo}\p{N}][\p{Ll}\p{Lo}\p{M}\p{N}_-]{0,39}$/u);
