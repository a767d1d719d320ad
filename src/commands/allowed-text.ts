/** What a person wants kept, as far as the policy lets it; and how a text that may be a secret is kept out of what is logged. */
import { isLilyError } from "#src/kernel/errors.ts";
import { denialEnvelope, type PolicyDenial } from "#memory/policy/verdict.ts";
import { refuse, refuseWith, type CommandContext } from "./command.ts";

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

/**
 * Refuses what the policy denies, without the masked text: a reply is kept in the state of the session, where a mask that
 * ends too early would leave the rest of a secret.
 */
export function refuseDenied({ rule, message, next }: PolicyDenial, kept = "remembered"): never {
  return refuseWith(denialEnvelope({ rule, next, message: message.replace("remembered", kept) }));
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
