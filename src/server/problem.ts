/** What a route answers when it does not do what was asked: problem details (RFC 9457) with the code of the table. */
import { z } from "zod";
import { envelopeOf, type Envelope } from "#src/kernel/envelope.ts";
import { ERROR_CODES, type ErrorCode } from "#src/kernel/errors.ts";
import { turnReplySchema, type TurnReply } from "#src/turns/turn-reply.ts";

/** Schema of `TurnReply`, under its name in the OpenAPI document. */
export const replySchema = turnReplySchema.meta({ id: "TurnReply" });

/** Schema of {@link Problem}. */
export const problemSchema = z
  .strictObject({
    /** `urn:lily:problem:` and the code. */
    type: z.string(),
    /** The code in words, the same for every occurrence. */
    title: z.string(),
    /** HTTP status, also where the problem is sent inside a stream. */
    status: z.int(),
    /** What happened this time. */
    detail: z.string(),
    /** Stable code, for programs. */
    code: z.string(),
    /** What to do next, where something can be done. */
    next: z.string().optional(),
    /** Facts for programs. */
    data: z.record(z.string(), z.unknown()).optional(),
    /** The reply that tells of it, where a message was sent. */
    reply: replySchema.optional(),
  })
  .meta({ id: "Problem" });

/** Why a request was not carried out. */
export type Problem = z.infer<typeof problemSchema>;

/** Told of what callers are not shown. */
export type ReportProblem = (detail: string) => void;

/** Codes about the server, whose texts name files and addresses: they are for its log, not for whoever asks. */
const PRIVATE_CODES: ReadonlySet<string> = new Set<ErrorCode>([
  "internal",
  "config_invalid",
  "storage_full",
  "storage_damaged",
  "storage_readonly",
  "storage_newer",
  "storage_failed",
]);

/** Seconds after which trying again makes sense, by code. */
const RETRY_SECONDS: Partial<Record<string, number>> = {
  draining: 5,
  lease_timeout: 5,
  storage_busy: 1,
} satisfies Partial<Record<ErrorCode, number>>;

/** The problem of anything thrown. */
export function problemOf(error: unknown, report: ReportProblem): Problem {
  return problemOfEnvelope(publicEnvelope(envelopeOf(error), report));
}

/** The problem of a reply whose envelope is not ok. */
export function problemOfReply(reply: TurnReply, report: ReportProblem): Problem {
  const envelope = publicEnvelope(reply.envelope, report);
  return { ...problemOfEnvelope(envelope), reply: { ...reply, envelope } };
}

/** The answer that carries a problem. */
export function problemResponse(problem: Problem, headers: Readonly<Record<string, string>> = {}): Response {
  const seconds = RETRY_SECONDS[problem.code];
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: {
      "content-type": "application/problem+json",
      "cache-control": "no-store",
      ...(seconds === undefined ? {} : { "retry-after": String(seconds) }),
      ...(problem.code === "unauthenticated" ? { "www-authenticate": "Bearer" } : {}),
      ...(problem.code === "draining" ? { connection: "close" } : {}),
      ...headers,
    },
  });
}

/** The problem of an envelope that is not ok, whose text is for whoever asks. */
export function problemOfEnvelope(envelope: Envelope): Problem {
  const { code, message, next, data } = envelope;
  return {
    type: `urn:lily:problem:${code}`,
    title: code.replaceAll("_", " "),
    status: statusOf(code),
    detail: message,
    code,
    ...(next === undefined ? {} : { next }),
    ...(data === undefined ? {} : { data }),
  };
}

function statusOf(code: string): number {
  return Object.hasOwn(ERROR_CODES, code) ? ERROR_CODES[code as ErrorCode].http : 500;
}

function publicEnvelope(envelope: Envelope, report: ReportProblem): Envelope {
  if (!PRIVATE_CODES.has(envelope.code)) return envelope;
  report(`${envelope.code}: ${envelope.message}`);
  return {
    ok: false,
    code: envelope.code,
    message: "the server could not do it",
    next: "Try again later with the same delivery id; the log of the server says what is wrong.",
  };
}
