/** A port of this machine that nobody listens on at the moment. */
import { createServer } from "node:net";

/** Finds the port. Another program may take it before the caller does. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((done) => probe.listen(0, "127.0.0.1", done));
  const address = probe.address();
  await new Promise((done) => probe.close(done));
  if (typeof address === "object" && address !== null) return address.port;
  throw new Error("no port is free");
}
