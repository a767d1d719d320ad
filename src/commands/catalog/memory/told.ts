/** Actions whose errors a person can do something about: those are told as envelopes, all others are thrown on. */
import { envelopeOf, type Envelope } from "#src/kernel/envelope.ts";
import { isLilyError } from "#src/kernel/errors.ts";

/** The envelope of `action`, or that of the `LilyError` it threw. */
export async function told(action: () => Promise<Envelope>): Promise<Envelope> {
  try {
    return await action();
  } catch (error) {
    if (isLilyError(error)) return envelopeOf(error);
    throw error;
  }
}
