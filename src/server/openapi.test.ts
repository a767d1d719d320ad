import { describe, expect, it } from "vitest";
import { z } from "zod";
import { httpHarnessStarter } from "./testing/http-harness.ts";

const start = httpHarnessStarter();

const documentSchema = z.object({
  openapi: z.literal("3.1.0"),
  paths: z.record(z.string(), z.record(z.string(), z.unknown())),
  components: z.object({ schemas: z.record(z.string(), z.unknown()) }),
});

async function documentOf() {
  const http = await start();
  const response = await http.request("/openapi.json", { owner: null });
  expect(response.status).toBe(200);
  return { http, document: documentSchema.parse(await response.json()) };
}

/** Every reference below `value`. */
function referencesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const own = "$ref" in value && typeof value.$ref === "string" ? [value.$ref] : [];
  return [...own, ...Object.values(value).flatMap(referencesIn)];
}

describe("the OpenAPI document", () => {
  it("lists every route that is served, and no other", async () => {
    const { http, document } = await documentOf();
    const served = http.app.routes
      .filter(({ method, path }) => method !== "ALL" && !path.endsWith("/openapi.json"))
      .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/gu, "{$1}")}`);
    const listed = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(listed.toSorted()).toEqual([...new Set(served)].toSorted());
    expect(listed).toHaveLength(15);
  });

  it("has what each of its references points to", async () => {
    const { document } = await documentOf();
    const names = new Set(
      Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`),
    );
    const references = referencesIn(document);
    expect(references.length).toBeGreaterThan(10);
    expect(references.filter((reference) => !names.has(reference))).toEqual([]);
  });

  it("says what a message must hold, and that a path's parameters must be there", async () => {
    const { document } = await documentOf();
    expect(document.components.schemas["Message"]).toMatchObject({ required: ["content"] });
    expect(document.paths["/lily/v1/keys/{key}/sessions/{sessionId}"]?.["get"]).toMatchObject({
      parameters: [
        { name: "key", in: "path", required: true },
        { name: "sessionId", in: "path", required: true },
      ],
    });
  });

  it("names a login for all routes but those that need none", async () => {
    const { document } = await documentOf();
    const open = Object.entries(document.paths).filter(([, methods]) =>
      Object.values(methods).some((route) => z.object({ security: z.tuple([]) }).safeParse(route).success),
    );
    expect(open.map(([path]) => path)).toEqual(["/lily/v1/health", "/lily/v1/ready"]);
  });

  it("names each operation once, so that clients made of it have methods", async () => {
    const { document } = await documentOf();
    const named = z.object({ operationId: z.string().regex(/^[a-z][A-Za-z]+$/u) });
    const ids = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map((operation) => named.parse(operation).operationId),
    );
    expect(new Set(ids).size).toBe(15);
  });

  it("has one type of answer for a message, requires no arguments of a command, and names the events of a stream", async () => {
    const { document } = await documentOf();
    expect(document.paths["/lily/v1/keys/{key}/messages"]?.["post"]).toMatchObject({
      responses: {
        200: { content: { "application/json": { schema: { $ref: "#/components/schemas/TurnReply" } } } },
      },
    });
    const { post } = document.paths["/lily/v1/keys/{key}/messages"] ?? {};
    expect(JSON.stringify(post)).not.toContain('text/event-stream":');
    expect(document.components.schemas["Command"]).not.toHaveProperty("required");
    expect(document.components.schemas).toHaveProperty("TurnEvent");
    expect(document.components.schemas["TurnReply"]).toMatchObject({
      description: expect.stringContaining("Show a person"),
    });
  });
});
