/** A client that others would make: types by openapi-typescript, calls by openapi-fetch, checked by the compiler. */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { echoModel } from "#graphs/session/testing/harness.ts";
import { httpHarnessStarter } from "./testing/http-harness.ts";

const start = httpHarnessStarter();

const CLIENT = `
import createClient from "openapi-fetch";
import type { components, paths } from "./lily.js";

const MESSAGES = "/lily/v1/keys/{key}/messages";
type Reply = components["schemas"]["TurnReply"];
export type Event = components["schemas"]["TurnEvent"];

const shown = ({ announcement, notice, envelope }: Reply): string[] =>
  [announcement, notice, envelope.text].filter((part): part is string => part !== undefined);

export async function mistakes(client: ReturnType<typeof createClient<paths>>) {
  const params = { path: { key: "k" } };
  // @ts-expect-error -- a message has content
  await client.POST(MESSAGES, { params, body: { deliveryId: "d1" } });
  // @ts-expect-error -- there is no such filter
  await client.GET("/lily/v1/keys", { params: { query: { size: 10 } } });
  // @ts-expect-error -- a key is needed
  await client.GET("/lily/v1/keys/{key}/sessions");
}

export async function talk(fetch: (request: Request) => Promise<Response>, key: string) {
  const client = createClient<paths>({ baseUrl: "http://lily.example", fetch });
  const params = { path: { key } };
  const sent = await client.POST(MESSAGES, { params, body: { content: "hello", deliveryId: "d1" } });
  if (sent.data === undefined) throw new Error(sent.error.detail);
  const parts = [{ type: "text", text: "in parts" }];
  const inParts = await client.POST(MESSAGES, { params, body: { content: parts } });
  const url = "data:image/png;base64,iVBORw0KGgo=";
  const picture = await client.POST(MESSAGES, { params, body: { content: [...parts, { type: "image_url", image_url: { url } }] } });
  const command = await client.POST("/lily/v1/keys/{key}/commands/{name}", { params: { path: { key, name: "help" } } });
  const sessionId: string = sent.data.sessionId;
  const path = { key, sessionId };
  const history = await client.GET("/lily/v1/keys/{key}/sessions/{sessionId}/history", { params: { path, query: { limit: 10 } } });
  const said: string[] = (history.data?.turns ?? []).flatMap((turn) => turn.messages.map(({ role, content }) => role + ": " + content));
  const keys = await client.GET("/lily/v1/keys");
  const next: number | null | undefined = keys.data?.next;
  const wrong = await client.GET("/lily/v1/keys/{key}/status", { params: { path: { key: "never used" } } });
  const code: string | undefined = wrong.error?.code;
  return {
    sent: shown(sent.data),
    inParts: inParts.data === undefined ? [] : shown(inParts.data),
    picture: picture.data?.outcome,
    command: command.data?.envelope.code,
    said,
    next,
    code,
  };
}
`;

type Talk = (fetch: (request: Request) => Promise<Response>, key: string) => Promise<unknown>;
const moduleSchema = z.object({ talk: z.custom<Talk>((value) => typeof value === "function") });

const toldSchema = z.object({
  sent: z.array(z.string()),
  inParts: z.array(z.string()),
  picture: z.string(),
  command: z.string(),
  said: z.array(z.string()),
  next: z.null(),
  code: z.string(),
});

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "lily-client-"));
  symlinkSync(resolve(import.meta.dirname, "../../node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Compiles `source` beside the types of the document. Returns what the compiler finds wrong. */
function compile(source: string): string[] {
  const path = join(folder, "client.ts");
  writeFileSync(path, source);
  const program = ts.createProgram([path], {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    strict: true,
    exactOptionalPropertyTypes: true,
    types: [],
    lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
    skipLibCheck: true,
  });
  program.emit();
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}

describe("a client made of the OpenAPI document", () => {
  it("compiles, sends text, parts and pictures, and reads what is to be shown and the history (S-10)", async () => {
    const http = await start({ lily: { model: echoModel() } });
    const document = await (await http.request("/openapi.json", { owner: null })).text();
    writeFileSync(join(folder, "lily.d.ts"), astToString(await openapiTS(document)));
    expect(compile(CLIENT)).toEqual([]);

    const made = moduleSchema.parse(
      await import(/* @vite-ignore */ pathToFileURL(join(folder, "client.js")).href),
    );
    const fetchHere = (request: Request): Promise<Response> => {
      request.headers.set("x-test-owner", "local");
      return Promise.resolve(http.app.request(request));
    };
    const answered: unknown = expect.stringMatching(/^assistant: /u);
    expect(toldSchema.parse(await made.talk(fetchHere, "team: a/b"))).toEqual({
      sent: ["hello"],
      inParts: ["in parts"],
      picture: "answered",
      command: "help",
      said: [
        "user: hello",
        "assistant: hello",
        "user: in parts",
        "assistant: in parts",
        "user: in parts",
        answered,
      ],
      next: null,
      code: "session_not_found",
    });
  });
});
