/** The routes that take a message to its reply: messages, commands, status; and the one that stops an answer. */
import { z, type OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { streamSSE } from "hono/streaming";
import { parseAccept } from "hono/utils/accept";
import { findCommand, unknownCommand } from "#src/commands/registry.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { approvalSchema, decisionSchema } from "#src/tools/approval.ts";
import type { TurnRequest } from "#src/turns/run-turn.ts";
import type { TurnReply } from "#src/turns/turn-reply.ts";
import { problemOf, problemSchema, replySchema, requireOk } from "../problem.ts";
import { jsonBody, keyParams, ownRoute, type HttpEnv, type RouteServices } from "./route.ts";
import { requireChain } from "./sessions.ts";

/** Time between signs of life in a stream of events. */
const HEARTBEAT_MS = 15_000;

/** What may be sent; what it really is, is checked with the codes of messages. */
const contentSchema = z
  .unknown()
  .refine((content) => content !== undefined, "content is missing")
  .meta({
    description:
      "Text, or parts: text, and pictures, audio or files as image_url with a data: URL or as content blocks with base64",
    anyOf: [
      { type: "string" },
      {
        type: "array",
        items: {
          type: "object",
          properties: { type: { type: "string" }, text: { type: "string" } },
          required: ["type"],
          // The fields of pictures and files, by their type.
          additionalProperties: true,
        },
      },
    ],
  });

const messageSchema = z
  .strictObject({
    content: contentSchema,
    deliveryId: z.string().optional().meta({
      description: "The channel's id of the message: the same id again repeats the stored reply",
    }),
  })
  .meta({ id: "Message" });

const commandSchema = z
  .strictObject({
    args: z.string().optional().meta({ description: "What is written behind the name" }),
    deliveryId: z.string().optional(),
  })
  .meta({ id: "Command" });

const headersSchema = z.object({
  "idempotency-key": z
    .string()
    // Headers are bytes; what is not ASCII has no one meaning there.
    .regex(/^[ -~]*$/u, "is not ASCII; send deliveryId in the body")
    .optional()
    .meta({ description: "The same as deliveryId, in ASCII" }),
});

/** One event of the stream of an answer: its name, and its data as JSON. */
const turnEventSchema = z
  .discriminatedUnion("event", [
    z.object({ event: z.literal("waiting"), data: z.object({}) }),
    z.object({ event: z.literal("session"), data: z.object({ sessionId: z.string() }) }),
    z.object({ event: z.literal("notice"), data: z.object({ text: z.string() }) }),
    z.object({ event: z.literal("token"), data: z.object({ text: z.string() }) }),
    z.object({ event: z.literal("tool"), data: z.object({ name: z.string() }) }),
    z.object({ event: z.literal("reply"), data: replySchema }),
    z.object({ event: z.literal("error"), data: problemSchema }),
  ])
  .meta({ id: "TurnEvent" });

const STREAMING =
  "With `Accept: text/event-stream` the answer is a stream of server-sent events (`TurnEvent`) while the turn runs: `session`, " +
  "`notice`, `token`, `tool`, `waiting`, then one `reply`, or one `error` with the problem. Whoever goes away before that stops " +
  "nothing: the turn is committed, and the same delivery id gives its reply.";

const sendMessage = ownRoute("post", "/{key}/messages", {
  operationId: "sendMessage",
  summary: "Send a message and get the reply",
  description: STREAMING,
  request: { params: keyParams, headers: headersSchema, body: jsonBody(messageSchema, { required: true }) },
  answer: replySchema,
});

const runCommand = ownRoute("post", "/{key}/commands/{name}", {
  operationId: "runCommand",
  summary: "Run a slash command, as the message /name args does",
  description: STREAMING,
  request: {
    params: keyParams.extend({ name: z.string() }),
    headers: headersSchema,
    body: jsonBody(commandSchema, { required: false }),
  },
  answer: replySchema,
});

const showStatus = ownRoute("get", "/{key}/status", {
  operationId: "showStatus",
  summary: "Show the latest session, its rules and the latest decision, as /status does",
  request: { params: keyParams },
  answer: replySchema,
});

const answersSchema = z
  .strictObject({
    decisions: z
      .array(decisionSchema)
      .length(1)
      .meta({ description: "One: calls are asked about one after the other" }),
  })
  .meta({ id: "ApprovalAnswer" });

const approvalsSchema = z.strictObject({
  approvals: z
    .array(approvalSchema.meta({ id: "Approval" }))
    .meta({ description: "Calls of tools that wait for a decision: one at most" }),
});

const listApprovals = ownRoute("get", "/{key}/approvals", {
  operationId: "listApprovals",
  summary: "Show the call of a tool that waits for a decision",
  request: { params: keyParams },
  answer: approvalsSchema,
});

const answerApproval = ownRoute("post", "/{key}/approvals/{id}", {
  operationId: "answerApproval",
  summary:
    "Decide on a call of a tool, and get the reply of the turn that waits for it, or its next question",
  description: `A message whose reply is the problem \`turn_waiting\` has the question in \`data.approval\`. ${STREAMING}`,
  request: {
    params: keyParams.extend({ id: z.string() }),
    body: jsonBody(answersSchema, { required: true }),
  },
  answer: replySchema,
});

const stopAnswer = ownRoute("post", "/{key}/stop", {
  operationId: "stopAnswer",
  summary: "Stop the answer that is being written; what there is of it is kept",
  request: { params: keyParams },
  answer: z.strictObject({ stopped: z.boolean().meta({ description: "false: nothing was running" }) }),
});

export function addTurns(app: OpenAPIHono<HttpEnv>, services: RouteServices): void {
  const { sessions } = services;
  app.openAPIRegistry.register("TurnEvent", turnEventSchema);
  app.openapi(sendMessage, async (context) => {
    const { ref } = context.var;
    const { content, deliveryId } = context.req.valid("json");
    const delivery = deliveryOf(context, deliveryId);
    return answerTurn(context, services, (on) => sessions.send({ ...ref, content, ...delivery, ...on }));
  });
  app.use(runCommand.getRoutingPath(), emptyIsNone);
  app.openapi(runCommand, async (context) => {
    const { ref } = context.var;
    const { name } = context.req.valid("param");
    requireCommand(name);
    const { args = "", deliveryId } = context.req.valid("json");
    const delivery = deliveryOf(context, deliveryId);
    const content = `/${name} ${args}`.trimEnd();
    return answerTurn(context, services, (on) => sessions.send({ ...ref, content, ...delivery, ...on }));
  });
  app.openapi(showStatus, async (context) => {
    const { ref } = context.var;
    await requireChain(sessions.repository, ref);
    return context.json(requireOk(await sessions.send({ ...ref, content: "/status" })), 200);
  });
  app.openapi(listApprovals, async (context) => {
    const open = await sessions.openApproval(context.var.ref);
    return context.json({ approvals: open === undefined ? [] : [open.approval] }, 200);
  });
  app.openapi(answerApproval, async (context) => {
    const { ref } = context.var;
    const { id } = context.req.valid("param");
    const [decision] = context.req.valid("json").decisions;
    if (decision === undefined) throw new LilyError("request_invalid", "decisions has none");
    return answerTurn(context, services, (on) => sessions.approve({ ...ref, id, decision, ...on }));
  });
  app.openapi(stopAnswer, async (context) => {
    return context.json({ stopped: await sessions.stop(context.var.ref) }, 200);
  });
}

/**
 * Takes a message to the answer of its request. The turn goes on when the client goes away: it may have been read, and
 * the same delivery id gives the reply.
 *
 * @throws {LilyError} `rate_limited` when the caller has too many turns already
 */
async function answerTurn(
  context: Context<HttpEnv>,
  services: RouteServices,
  take: (on: Pick<TurnRequest, "stop" | "onEvent">) => Promise<TurnReply>,
) {
  const { turns, report } = services;
  const running = turns.begin(context.var.caller.id);
  const send = (onEvent?: TurnRequest["onEvent"]): Promise<TurnReply> =>
    take({ stop: running.stop, ...(onEvent === undefined ? {} : { onEvent }) }).finally(() => running.end());
  if (!wantsEvents(context)) return context.json(requireOk(await send()), 200);
  // Asks proxies of the nginx kind to pass on what comes.
  context.header("x-accel-buffering", "no");
  const events: Response = streamSSE(context, async (stream) => {
    // At once, so that the client sees that it was taken before the first word of the answer is there.
    let sent: Promise<unknown> = stream.write(": lily\n\n");
    const emit = (event: string, data: unknown): void => {
      sent = sent.then(() => stream.writeSSE({ event, data: JSON.stringify(data) }));
    };
    const heartbeat = setInterval(() => void stream.write(": waiting\n\n"), HEARTBEAT_MS);
    try {
      emit("reply", requireOk(await send(({ type, ...data }) => emit(type, data))));
    } catch (error) {
      emit("error", problemOf(error, report));
    } finally {
      clearInterval(heartbeat);
    }
    await sent;
  });
  // The types of a route know its JSON alone.
  return events as never;
}

/** A body of no bytes is none, also where the client says that it is JSON: many send the header always. */
async function emptyIsNone({ req }: Context<HttpEnv>, next: () => Promise<void>): Promise<void> {
  if ((await req.arrayBuffer()).byteLength === 0) req.raw.headers.delete("content-type");
  await next();
}

/** Whether events are asked for by name, and not less than JSON. */
function wantsEvents(context: Context): boolean {
  const accepted = parseAccept(context.req.header("accept") ?? "");
  const weightOf = (type: string): number =>
    accepted.find((entry) => entry.type.toLowerCase() === type)?.q ?? 0;
  const wanted = weightOf("text/event-stream");
  return wanted > 0 && wanted >= weightOf("application/json");
}

/** The delivery id of the body or of the header. @throws {LilyError} `request_invalid` when both are there and differ */
function deliveryOf({ req }: Context, inBody: string | undefined): { readonly deliveryId?: string } {
  const inHeader = req.header("idempotency-key");
  if (inHeader !== undefined && inBody !== undefined && inHeader !== inBody)
    throw new LilyError("request_invalid", "deliveryId and the header Idempotency-Key differ", {
      next: "Send one of them. Nothing was stored.",
    });
  const deliveryId = inBody ?? inHeader;
  return deliveryId === undefined ? {} : { deliveryId };
}

/** @throws {LilyError} `command_unknown` */
function requireCommand(name: string): void {
  if (findCommand(name) !== undefined) return;
  const shown = name.length > 40 ? `${name.slice(0, 40)}…` : name;
  const { message, next = "" } = unknownCommand(shown.toWellFormed());
  throw new LilyError("command_unknown", message, { next });
}
