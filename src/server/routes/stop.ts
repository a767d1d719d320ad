/** `POST /keys/{key}/stop`: ends the answer that is being written; what there is of it is kept. */
import { z, type OpenAPIHono } from "@hono/zod-openapi";
import { addKeyRoute, json, type RouteServices } from "./route.ts";

const stoppedSchema = z.strictObject({
  /** `false`: nothing was running. */
  stopped: z.boolean(),
});

/** Adds the route. */
export function addStop(app: OpenAPIHono, services: RouteServices): void {
  addKeyRoute(app, services, {
    method: "post",
    path: "/keys/{key}/stop",
    summary: "Stop the answer that is being written; what there is of it is kept",
    answer: stoppedSchema,
    handle: async ({ conversations }, ref) =>
      json(stoppedSchema.parse({ stopped: await conversations.stop(ref) })),
  });
}
