/** `POST /keys/{key}/commands/{name}`: a slash command by its name. */
import { z, type OpenAPIHono } from "@hono/zod-openapi";
import { findCommand, unknownCommand } from "#src/commands/registry.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { replySchema } from "../problem.ts";
import { readBody } from "../read-request.ts";
import { deliveryOf } from "./messages.ts";
import { addKeyRoute, type RouteServices } from "./route.ts";
import { answerTurn } from "./turn-answer.ts";

const commandSchema = z
  .strictObject({
    args: z.string().default("").meta({ description: "What is written behind the name" }),
    deliveryId: z.string().optional(),
  })
  .meta({ id: "Command" });

/** Adds the route. */
export function addCommands(app: OpenAPIHono, services: RouteServices): void {
  addKeyRoute(app, services, {
    method: "post",
    path: "/keys/{key}/commands/{name}",
    summary: "Run a slash command, as the message /name args does",
    body: { schema: commandSchema, required: false },
    answer: replySchema,
    streams: true,
    async handle(exchange, ref) {
      const { request } = exchange;
      const name = requireCommand(exchange.param("name"));
      const { args, deliveryId } = await readBody(request, commandSchema, services.bodyBytes);
      const content = `/${name} ${args}`.trimEnd();
      return answerTurn(services, exchange, { ...ref, content, ...deliveryOf(request, deliveryId) });
    },
  });
}

/** @throws {LilyError} `command_unknown` */
function requireCommand(name: string): string {
  if (findCommand(name) !== undefined) return name;
  const shown = name.length > 40 ? `${name.slice(0, 40)}…` : name;
  const { message, next = "" } = unknownCommand(shown.toWellFormed());
  throw new LilyError("command_unknown", message, { next });
}
