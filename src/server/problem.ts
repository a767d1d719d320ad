/** What a route answers when it does not do what was asked: problem details (RFC 9457) with the code of the table. */
import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { z } from "zod";
import { envelopeOf, refused, type Envelope } from "#src/kernel/envelope.ts";
import { ERROR_CODES, LilyError, type ErrorCode } from "#src/kernel/errors.ts";
import { turnReplySchema, withText, type TurnReply } from "#src/turns/turn-reply.ts";

/** Schema of `TurnReply`, under its name in the OpenAPI document. */
export const replySchema = turnReplySchema.meta({
  id: "TurnReply",
  description:
    "The reply to one message. Show a person `announcement` and `notice`, where they are there, then `envelope.text`: " +
    "the whole reply as Markdown, tables included. The rest is for programs.",
});

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
  "storage_unreachable",
  "storage_failed",
]);

/** Seconds after which trying again makes sense, by code. */
const RETRY_SECONDS: Partial<Record<string, number>> = {
  draining: 5,
  lease_timeout: 5,
  rate_limited: 5,
  storage_busy: 1,
  storage_unreachable: 5,
} satisfies Partial<Record<ErrorCode, number>>;

/** An envelope that is not ok, on its way to the one place that answers with problems. */
export class Refusal extends Error {
  readonly envelope: Envelope;
  /** The reply whose envelope it is, where a message was sent. */
  readonly reply: TurnReply | undefined;

  constructor(envelope: Envelope, reply?: TurnReply) {
    super(envelope.message);
    this.name = "Refusal";
    this.envelope = envelope;
    this.reply = reply;
  }
}

/** The reply, when its envelope is ok. @throws {Refusal} */
export function requireOk(reply: TurnReply): TurnReply {
  if (reply.envelope.ok) return withText(reply);
  throw new Refusal(reply.envelope, reply);
}

/** The problem of anything thrown. */
export function problemOf(error: unknown, report: ReportProblem): Problem {
  const reply = error instanceof Refusal ? error.reply : undefined;
  const envelope = publicEnvelope(envelopeIn(error), report);
  const { code, message, next, data } = envelope;
  return {
    type: `urn:lily:problem:${code}`,
    title: code.replaceAll("_", " "),
    status: Object.hasOwn(ERROR_CODES, code) ? ERROR_CODES[code as ErrorCode].http : 500,
    detail: message,
    code,
    ...(next === undefined ? {} : { next }),
    ...(data === undefined ? {} : { data }),
    ...(reply === undefined ? {} : { reply: withText({ ...reply, envelope }) }),
  };
}

/** Answers with the problem of anything thrown. */
export function answerProblem(context: Context, error: unknown, report: ReportProblem): Response {
  const problem = problemOf(error, report);
  const seconds = RETRY_SECONDS[problem.code];
  if (seconds !== undefined && !context.res.headers.has("retry-after"))
    context.header("retry-after", String(seconds));
  if (problem.code === "unauthenticated") context.header("www-authenticate", "Bearer");
  if (problem.code === "draining") context.header("connection", "close");
  // The codes of the table are answers with a body.
  return context.body(JSON.stringify(problem), problem.status as ContentfulStatusCode, {
    "content-type": "application/problem+json",
  });
}

/** The hook of every route: what does not fit its schema is a problem like any other. */
export function refuseInvalid(result: {
  readonly success: boolean;
  readonly error?: z.core.$ZodError;
  readonly target: string;
}): void {
  if (result.success) return;
  const [issue] = result.error?.issues ?? [];
  const what = result.target === "json" ? "the body" : `the ${result.target}`;
  const path = issue?.path.join(".") ?? "";
  const where = path === "" ? what : `${JSON.stringify(shorten(path))} in ${what}`;
  const message = `${where} is not as it should be: ${shorten(issue?.message ?? "invalid")}`;
  const next = "GET /lily/v1/openapi.json describes every request.";
  throw new LilyError("request_invalid", message, { next });
}

function envelopeIn(error: unknown): Envelope {
  if (error instanceof Refusal) return error.envelope;
  // What hono itself refuses: its own text may quote what was sent.
  if (!(error instanceof HTTPException)) return envelopeOf(error);
  if (error.status === 415)
    return refused("request_invalid", "the body is not application/json", {
      next: "Send JSON with the header Content-Type: application/json.",
    });
  return refused("request_invalid", "the body is not JSON in UTF-8", { next: "Send one JSON object." });
}

function publicEnvelope(envelope: Envelope, report: ReportProblem): Envelope {
  if (!PRIVATE_CODES.has(envelope.code)) return envelope;
  report(`${envelope.code}: ${envelope.message}`);
  return refused(envelope.code as ErrorCode, "the server could not do it", {
    next: "The log of the server says what is wrong. Send the message again later with the same delivery id: if it was stored, it is answered once.",
  });
}

function shorten(text: string): string {
  return (text.length > 200 ? `${text.slice(0, 200)}…` : text).toWellFormed();
}
