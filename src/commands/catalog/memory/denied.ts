/** What is told of a text that the policy refused. */
import type { Envelope } from "#src/kernel/envelope.ts";
import { denialEnvelope, type PolicyDenial } from "#memory/policy/verdict.ts";

/**
 * The refusal without the masked text: a reply is kept in the state of the session, where a mask that ends too early
 * would leave the rest of a secret.
 */
export function deniedEnvelope({ rule, message, next }: PolicyDenial): Envelope {
  return denialEnvelope({ rule, message, next });
}
