/** Writes to memory whose text may be a secret: what goes wrong is told, and never thrown into the log of failures. */
import { envelopeOf, refused, type Envelope } from "#src/kernel/envelope.ts";
import { isLilyError } from "#src/kernel/errors.ts";
import type { RememberOutcome } from "#memory/facts/types.ts";
import type { CommandOutcome } from "../../command.ts";
import { notFound } from "./find-record.ts";
import { momentOf, type ActionContext } from "./memory-action.ts";
import { deniedEnvelope, rememberedOutcome } from "./remembered.ts";

/** What the policy has against a text, or against a name such as that of a task. */
export async function objectionTo(
  text: string,
  { memory }: ActionContext,
  options: { readonly isName?: boolean } = {},
): Promise<Envelope | undefined> {
  try {
    const denial = await memory.denial(text, options);
    return denial === undefined ? undefined : deniedEnvelope(denial);
  } catch (error) {
    return toldError(error);
  }
}

/** What came of a write. An error is told, not thrown: what is thrown is logged with the text, which may be a secret. */
export async function guarded(
  context: ActionContext,
  write: () => Promise<RememberOutcome | { readonly kind: "none" }>,
): Promise<CommandOutcome> {
  try {
    const outcome = await write();
    if (outcome.kind === "none") return { envelope: notFound() };
    return rememberedOutcome(outcome, context.memory.who, momentOf(context));
  } catch (error) {
    return { envelope: toldError(error) };
  }
}

/** The envelope of an error, which says nothing of the text unless it is one of ours. */
function toldError(error: unknown): Envelope {
  if (isLilyError(error)) return envelopeOf(error);
  return refused("memory_unavailable", "memory could not be asked, and nothing was remembered", {
    next: "Try again; lily doctor says what is wrong with the files.",
  });
}
