/** `POST /keys/{key}/messages`: a message to its reply. */
import { z, type OpenAPIHono } from "@hono/zod-openapi";
import { LilyError } from "#src/kernel/errors.ts";
import { replySchema } from "../problem.ts";
import { readBody } from "../read-request.ts";
import { addKeyRoute, type RouteServices } from "./route.ts";
import { answerTurn } from "./turn-answer.ts";

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

const headersSchema = z.object({
  "idempotency-key": z.string().optional().meta({ description: "The same as deliveryId, in ASCII" }),
});

/** Adds the route. */
export function addMessages(app: OpenAPIHono, services: RouteServices): void {
  addKeyRoute(app, services, {
    method: "post",
    path: "/keys/{key}/messages",
    summary: "Send a message and get the reply",
    description:
      "With `Accept: text/event-stream` events come while the turn runs (`session`, `notice`, `token`, `tool`, `waiting`), " +
      "then one `reply`, or one `error` with the problem. Whoever goes away before that stops nothing: the turn is " +
      "committed, and the same delivery id gives its reply.",
    headers: headersSchema,
    body: { schema: messageSchema, required: true },
    answer: replySchema,
    streams: true,
    async handle(exchange, ref) {
      const { content, deliveryId } = await readBody(exchange.request, messageSchema, services.bodyBytes);
      return answerTurn(services, exchange, { ...ref, content, ...deliveryOf(exchange.request, deliveryId) });
    },
  });
}

/**
 * The delivery id of the body or of the header.
 *
 * @throws {LilyError} `request_invalid` when both are there and differ
 */
export function deliveryOf(request: Request, inBody: string | undefined): { readonly deliveryId?: string } {
  const inHeader = request.headers.get("idempotency-key");
  if (inHeader !== null && inBody !== undefined && inHeader !== inBody)
    throw invalid("deliveryId and the header Idempotency-Key differ", "Send one of them.");
  // oxlint-disable-next-line no-control-regex -- headers are bytes; what is not ASCII has no one meaning there
  if (inHeader !== null && /[^\u0020-\u007e]/u.test(inHeader))
    throw invalid("the header Idempotency-Key is not ASCII", "Send deliveryId in the body.");
  const deliveryId = inBody ?? inHeader;
  return deliveryId === null ? {} : { deliveryId };
}

function invalid(message: string, next: string): LilyError {
  return new LilyError("request_invalid", message, { next: `${next} Nothing was stored.` });
}
