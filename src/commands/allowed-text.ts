/** What a person wants kept, as far as the policy lets it; and how a text that may be a secret is kept out of what is logged. */
import { isLilyError } from "#src/kernel/errors.ts";
import type { PolicyDenial } from "#memory/policy/verdict.ts";
import { refuse, type CommandContext } from "./command.ts";

/** The text, or the name, as it may be kept; what the policy denies is refused. `kept`: how the refusal calls that. */
export async function allowedText(
  text: string,
  { gate }: Pick<CommandContext, "gate">,
  { isName = false, kept = "remembered" } = {},
): Promise<string> {
  const verdict = await untold(
    () => gate(text, isName),
    () =>
      refuse("memory_unavailable", `the text could not be checked for secrets, and nothing was ${kept}`, {
        next: "Try again.",
      }),
  );
  return verdict.action === "deny" ? refuseDenied(verdict.denial, kept) : verdict.text;
}

/** Refuses what the policy denies, by its rule: a reply is kept in the state of the session, so it repeats nothing of the text. */
export function refuseDenied({ rule, message, next }: PolicyDenial, kept = "remembered"): never {
  return refuse("memory_policy_denied", message.replace("remembered", kept), { next, data: { rule } });
}

/** What `action` gives. An error that is not ours would be logged with the text: `otherwise` is told in its place. */
export async function untold<T>(action: () => Promise<T>, otherwise: () => never): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (isLilyError(error)) throw error;
    return otherwise();
  }
}
