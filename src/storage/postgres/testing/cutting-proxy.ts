/** Connections to PostgreSQL that are lost, for tests. */
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** Stands between a client and a database, and cuts the connection on which it sees `word`. */
export interface Proxy {
  readonly address: string;
  /** How many connections were cut. */
  readonly cuts: number;
  word: string | undefined;
  /** Passes nothing on. */
  isSilent: boolean;
  /** Cuts all of them and lets no new one in. */
  close(): Promise<void>;
}

/** A proxy in front of `database`, on a port of its own. */
export async function startProxy(database: string): Promise<Proxy> {
  const url = new URL(database);
  const port = Number(url.port);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, url.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    }
    client.on("data", (data: Buffer) => {
      if (proxy.isSilent) return;
      if (proxy.word === undefined || !data.includes(proxy.word)) return void upstream.write(data);
      proxy.cuts += 1;
      client.destroy();
      upstream.destroy();
    });
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
    upstream.pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url.port = String((server.address() as AddressInfo).port);
  const proxy = {
    address: url.href,
    cuts: 0,
    word: undefined as string | undefined,
    isSilent: false,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
  return proxy;
}
