/** The envelope: what every command and every refusal answers with, the same for people and programs. */
import { z } from "zod";
import { ERROR_CODES, errorMessage, isLilyError, type ErrorCode } from "./errors.ts";

/** Schema of {@link Envelope}. */
export const envelopeSchema = z.object({
  /** Whether what was asked for was done. */
  ok: z.boolean(),
  /** Stable code: an {@link ErrorCode} when `ok` is false, else the name of the outcome. */
  code: z.string(),
  /** The fact in plain words. */
  message: z.string(),
  /** What to do next, where something can be done. */
  next: z.string().optional(),
  /** The same fact as data, for programs and for tables. JSON only. */
  data: z.record(z.string(), z.unknown()).optional(),
});

/** Outcome of a command or refusal. */
export type Envelope = z.infer<typeof envelopeSchema>;

/** JSON data of an envelope; keys whose value is `undefined` count as absent. */
export type EnvelopeData = Readonly<Record<string, unknown>>;

/** An envelope for something that was done. */
export function done(
  code: string,
  message: string,
  options: { data?: EnvelopeData; next?: string } = {},
): Envelope {
  return { ok: true, code, message, ...options };
}

/** An envelope for something that was refused or failed. */
export function refused(
  code: ErrorCode,
  message: string,
  options: { data?: EnvelopeData; next?: string } = {},
): Envelope {
  return { ok: false, code, message, ...options };
}

/** The envelope of anything thrown; what is not a `LilyError` is reported as `fallback`. */
export function envelopeOf(error: unknown, fallback: ErrorCode = "internal"): Envelope {
  if (isLilyError(error)) {
    return refused(error.code, error.message, error.next === undefined ? {} : { next: error.next });
  }
  return refused(fallback, errorMessage(error));
}

/** Exit code of a command-line call that ends with `envelope`. */
export function exitCodeOf(envelope: Envelope): number {
  if (envelope.ok) return 0;
  return Object.hasOwn(ERROR_CODES, envelope.code) ? ERROR_CODES[envelope.code as ErrorCode].exit : 70;
}
