/** The envelope: what every command and every refusal answers with, the same for people and programs. */
import { z } from "zod";
import { ERROR_CODES, errorMessage, isLilyError, type ErrorCode } from "./errors.ts";

export const envelopeSchema = z.object({
  /** Whether what was asked for was done. */
  ok: z.boolean(),
  /** Stable code: an {@link ErrorCode} when `ok` is false, else the name of the outcome. */
  code: z.string(),
  /** The fact in plain words. */
  message: z.string(),
  /** What to do next, where something can be done. */
  next: z.string().optional(),
  /**
   * The whole reply as Markdown, tables included, where it is more than message and next step: what every client shows
   * that knows no more than text. {@link replyText} gives it of any envelope.
   */
  text: z.string().optional(),
  /** The same fact as data, for programs. JSON only. */
  data: z.record(z.string(), z.unknown()).optional(),
});

/** Outcome of a command or refusal. */
export type Envelope = z.infer<typeof envelopeSchema>;

/** JSON data of an envelope; keys whose value is `undefined` count as absent. */
export type EnvelopeData = Readonly<Record<string, unknown>>;

/** What an envelope may have beside its message. */
export interface EnvelopeOptions {
  readonly data?: EnvelopeData;
  readonly next?: string;
  /** Markdown that a person is shown between the message and the next step. */
  readonly body?: string;
  /** What stands before the body, where the message itself says in words what the body shows. */
  readonly lead?: string;
}

/** An envelope for something that was done. */
export function done(code: string, message: string, options: EnvelopeOptions = {}): Envelope {
  return make(true, code, message, options);
}

/** An envelope for something that was refused or failed. */
export function refused(code: ErrorCode, message: string, options: EnvelopeOptions = {}): Envelope {
  return make(false, code, message, options);
}

function make(
  ok: boolean,
  code: string,
  message: string,
  { data, next, body = "", lead = message }: EnvelopeOptions,
): Envelope {
  return {
    ok,
    code,
    message,
    ...(next === undefined ? {} : { next }),
    ...(body === "" ? {} : { text: paragraphs(lead, body, next) }),
    ...(data === undefined ? {} : { data }),
  };
}

/** The whole reply as Markdown. */
export function replyText({ text, message, next }: Envelope): string {
  return text ?? paragraphs(message, next);
}

function paragraphs(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== "").join("\n\n");
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
