/** `/rollover [idle <duration>|day <HH:MM>|topic on|off|reset]`: when this conversation ends by itself. */
import { quoted } from "#src/kernel/markdown.ts";
import { done, refused, type Envelope } from "#src/kernel/envelope.ts";
import { durationText } from "#src/explain/duration-text.ts";
import {
  rolloverOverridesSchema,
  withOverrides,
  type RolloverOverrides,
  type RolloverPolicy,
} from "#src/sessions/rollover-policy.ts";
import type { CommandContext, PlainCommand } from "../command.ts";
import { firstWord } from "../parse-command.ts";

export const rolloverCommand: PlainCommand = {
  kind: "plain",
  name: "rollover",
  summary: "Show or change when this conversation and those after it end by themselves",
  usage: "/rollover [idle <duration>|off | day <HH:MM>|off | topic on|off | off | reset]",
  effects: ["reads", "session"],
  async run(args, context) {
    if (args === "") return { envelope: current(context) };
    const rollover = overridesOf(args, context.session.rollover ?? {});
    if (rollover === undefined) return { envelope: usage(args) };
    return { envelope: changed(rollover, context.policy), changes: { rollover } };
  },
};

function changed(rollover: RolloverOverrides | null, policy: RolloverPolicy): Envelope {
  if (rollover === null)
    return done("rollover_reset", "The configured rules hold again, from the next message on.");
  return done(
    "rollover_set",
    `For this conversation and those after it: it ${rulesText(withOverrides(policy, rollover))}`,
  );
}

function current({ policy }: CommandContext): Envelope {
  return done("rollover", `This conversation ${rulesText(policy)}`, {
    next: "/rollover idle 24h, /rollover day 05:00, /rollover topic on, /rollover off, /rollover reset",
  });
}

function rulesText(policy: RolloverPolicy): string {
  const rules = [
    policy.idle.enabled ? `after ${durationText(policy.idle.limit)} without a turn` : undefined,
    policy.dayBoundary.enabled
      ? `at ${policy.dayBoundary.at} ${policy.timeZone}, once idle for ${durationText(policy.dayBoundary.minIdle)}`
      : undefined,
    policy.semantic.enabled
      ? `when the topic changes (threshold ${policy.semantic.threshold.toFixed(2)})`
      : undefined,
  ].filter((rule) => rule !== undefined);
  return rules.length === 0
    ? "ends only when you say /new."
    : `ends ${rules.join(" or ")}; the next message then begins a new one.`;
}

function overridesOf(args: string, before: RolloverOverrides): RolloverOverrides | null | undefined {
  const { word, rest } = firstWord(args.toLowerCase());
  const wanted = changeFor(word, rest.replaceAll(/\s+/gu, " "));
  if (wanted === null || wanted === undefined) return wanted;
  const parsed = rolloverOverridesSchema.safeParse({ ...before, ...wanted });
  return parsed.success ? parsed.data : undefined;
}

function changeFor(word: string, value: string): object | null | undefined {
  switch (word) {
    case "idle":
      return { idle: value === "off" ? { enabled: false } : { enabled: true, limit: value } };
    case "day":
      return { dayBoundary: value === "off" ? { enabled: false } : { enabled: true, at: value } };
    case "topic":
      return value === "on" || value === "off" ? { semantic: { enabled: value === "on" } } : undefined;
    case "off":
      return { idle: { enabled: false }, dayBoundary: { enabled: false }, semantic: { enabled: false } };
    case "reset":
      return null;
    default:
      return undefined;
  }
}

function usage(args: string): Envelope {
  return refused("command_usage", `${quoted(args)} is not a rollover rule`, {
    next: "Use /rollover idle 24h, /rollover day 05:00, /rollover topic on, /rollover off or /rollover reset.",
  });
}
