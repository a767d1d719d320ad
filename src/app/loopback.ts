/** How this process knows its own requests to the LangGraph server that it runs in: by a secret that never leaves it. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Client } from "@langchain/langgraph-sdk";
import { parseOwner } from "#src/sessions/session-key.ts";

// Made anew with each process, and shared by the graph, the routes and the login, which a LangGraph server loads into one.
const SECRET = randomBytes(32).toString("base64url");

const SCHEME = "LilyLoopback";

/** The part of `Headers` that is read here. */
type ReadableHeaders = Pick<Headers, "get">;

/**
 * Headers by which a request within this process acts for `owner`. Their names do not begin with `x-`: the server copies
 * headers that do into the metadata of every checkpoint.
 */
export function loopbackHeaders(owner: string): Record<string, string> {
  return { authorization: `${SCHEME} ${SECRET}`, "on-behalf-of": encodeURIComponent(parseOwner(owner)) };
}

/** Whether this runs in the process of a LangGraph server, which the SDK's client then reaches without a port. */
export function isInServer(): boolean {
  return Symbol.for("langgraph_api:fetch") in globalThis;
}

/** The SDK's client of the server in this process: without a URL it needs no port, without a key it sends none. */
export async function inProcessClient(defaultHeaders: Record<string, string>): Promise<Client> {
  const { Client: SdkClient } = await import("@langchain/langgraph-sdk");
  return new SdkClient({ apiKey: null, defaultHeaders, callerOptions: { maxRetries: 0 } });
}

/** The owner that a request within this process acts for; `undefined` for any other request. */
export function loopbackOwner(headers: ReadableHeaders): string | undefined {
  // Digests have one length, so the comparison tells nothing about the text that was sent.
  if (!timingSafeEqual(digest(headers.get("authorization") ?? ""), digest(`${SCHEME} ${SECRET}`)))
    return undefined;
  try {
    return parseOwner(decodeURIComponent(headers.get("on-behalf-of") ?? ""));
  } catch {
    // Acts for nobody.
    return undefined;
  }
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
