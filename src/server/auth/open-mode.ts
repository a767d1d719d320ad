/**
 * Whom a server without keys and tokens serves: programs of its own machine, and nobody else.
 *
 * Such a server believes every request, so it must not be reached from elsewhere. Four ways lead there, and each is
 * refused by what it shows: another machine (the address of the peer), a web page whose name was made to point to this
 * machine (DNS rebinding: the host is that name), a web page that sends requests across origins (`Origin`), and a proxy
 * or tunnel on this machine (forwarding headers). A proxy that adds none and sets `Host` to localhost cannot be told
 * from a local program: whoever sets one up must configure keys.
 *
 * LangGraph Studio is a web page elsewhere that works through the browser of whoever opens it. It is let in, because
 * `npm run dev` is made for it: whoever controls that page could read and write what a local program can.
 * `LILY_ALLOW_STUDIO=0` keeps it out.
 */
import { forbidden } from "./refusals.ts";

/** Origins of LangGraph Studio in the United States and in Europe. */
const STUDIO_ORIGINS = new Set(["https://smith.langchain.com", "https://eu.smith.langchain.com"]);

const FORWARDING_HEADERS = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"];

/**
 * Lets a request of this machine pass.
 *
 * @param facts `peer`: its address; `undefined` for a request within the process
 * @throws {LilyError} `forbidden` for others
 */
export function requireLocal(
  request: Request,
  { peer, allowsStudio }: { readonly peer: string | undefined; readonly allowsStudio: boolean },
): void {
  if (peer !== undefined && !isLoopbackAddress(peer)) throw notLocal("comes from another machine");
  const host = request.headers.get("host");
  const names = [isLoopbackHost(new URL(request.url).hostname), host === null || isLoopbackOrigin(host)];
  if (names.includes(false)) throw notLocal("is addressed to another host");
  if (FORWARDING_HEADERS.some((name) => request.headers.has(name)))
    throw notLocal("comes through a proxy or tunnel");
  const origin = request.headers.get("origin");
  if (origin === null || isLoopbackOrigin(origin)) return;
  if (!STUDIO_ORIGINS.has(origin)) throw notLocal("comes from a web page of another origin");
  if (!allowsStudio)
    throw forbidden(
      "LangGraph Studio is kept out by LILY_ALLOW_STUDIO",
      "Unset LILY_ALLOW_STUDIO to let it in.",
    );
}

function notLocal(fact: string): Error {
  return forbidden(
    `no keys are configured, so only programs of this machine are served; the request ${fact}`,
    "To serve others, configure keys on the server: lily keys new <owner>; then send the key.",
  );
}

/** Whether a host name, as `URL.hostname` gives it, is this machine: `localhost`, 127.0.0.0/8 or ::1. */
export function isLoopbackHost(hostname: string): boolean {
  const name = hostname.toLowerCase();
  return name === "localhost" || name === "[::1]" || /^127(?:\.\d{1,3}){3}$/u.test(name);
}

/** Whether the address of a peer, as a socket gives it, is this machine. */
export function isLoopbackAddress(address: string): boolean {
  const mapped = /^::ffff:(?<v4>[\d.]+)$/iu.exec(address)?.groups?.["v4"];
  return address === "::1" || isLoopbackHost(mapped ?? address);
}

/** Whether the text of an `Origin` or `Host` header, with or without scheme, is this machine. */
function isLoopbackOrigin(text: string): boolean {
  const url = URL.parse(text.includes("://") ? text : `http://${text}`);
  return url !== null && isLoopbackHost(url.hostname);
}
