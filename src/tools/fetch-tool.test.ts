import { createServer, type RequestListener } from "node:http";
import type { LookupFunction } from "node:net";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { makePdf } from "#memory/evidence/testing/make-pdf.ts";
import { createFetchTool, isPrivate, type FetchOptions } from "./fetch-tool.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A server of this machine, which the name `web.test` leads to as if it were public. */
async function serve(answer: RequestListener) {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  closers.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

const NAMES: Readonly<Record<string, string[]>> = {
  "web.test": ["127.0.0.1"],
  "inside.test": ["10.0.0.7"],
  "both.test": ["127.0.0.1", "169.254.169.254"],
};
const lookup: LookupFunction = (name, _options, done) =>
  done(
    null,
    (NAMES[name] ?? []).map((address) => ({ address, family: 4 })),
  );
/** The server of the test stands for a public one. */
const isRefused = (address: string): boolean => address !== "127.0.0.1" && isPrivate(address);

const fetchText = (url: string, options: FetchOptions = {}): Promise<string> =>
  createFetchTool({ lookup, isRefused, ...options }).invoke({ url });

const html = (text: string): string =>
  `<html><head><title>Tea</title></head><body><p>${text}</p></body></html>`;

describe("fetch_url", () => {
  it("gives pages, PDF files and text in their encoding as text, with the address that answered", async () => {
    const port = await serve((request, response) => {
      switch (request.url) {
        case "/":
          return response.writeHead(302, { location: "/tea?x=1#part" }).end();
        case "/tea?x=1":
          return response.writeHead(200, { "content-type": "text/html" }).end(html("Warm the pot."));
        case "/paper":
          return response
            .writeHead(200, { "content-type": "application/pdf" })
            .end(makePdf(["A paper on tea."]));
        case "/zip":
          return response
            .writeHead(200, { "content-type": "text/plain", "content-encoding": "gzip" })
            .end(gzipSync("packed"));
        default:
          return response
            .writeHead(200, { "content-type": "text/plain; charset=iso-8859-1" })
            .end(Buffer.from("caf\u00e9", "latin1"));
      }
    });
    const at = `http://web.test:${port}`;
    const page = await fetchText(`${at}/`);
    expect(page).toContain(`[${at}/tea?x=1]`);
    expect(page).toContain("Warm the pot.");
    expect(await fetchText(`${at}/paper`)).toContain("A paper on tea.");
    expect(await fetchText(`${at}/cafe`)).toContain("café");
    expect(await fetchText(`${at}/zip`)).toContain("packed");
  });

  it("connects to no address of this machine or a private network, by name, by number or led on to it", async () => {
    const asked: string[] = [];
    const port = await serve((request, response) => {
      asked.push(request.url ?? "");
      response.writeHead(307, { location: decodeURIComponent(request.url?.slice(1) ?? "") }).end();
    });
    const private_ = [
      `http://127.0.0.2:${port}/x`,
      "http://2130706434/",
      "http://[::1]/",
      "http://[::ffff:10.0.0.1]/",
      "http://169.254.169.254/latest/meta-data",
      "http://inside.test/",
      `http://both.test:${port}/x`,
    ];
    for (const url of private_) {
      await expect(fetchText(url)).rejects.toThrow("private network");
      await expect(fetchText(`http://web.test:${port}/${encodeURIComponent(url)}`)).rejects.toThrow(
        "private network",
      );
    }
    expect(asked).toHaveLength(private_.length);
  });

  it("fetches http and https alone, and no address with a password", async () => {
    for (const url of ["file:///etc/passwd", "ftp://web.test/", "nothing", "data:text/plain,x"])
      await expect(fetchText(url)).rejects.toThrow("no http or https address");
    await expect(fetchText("http://me:pw@web.test/")).rejects.toThrow("with a password");
    const port = await serve((_request, response) =>
      response.writeHead(302, { location: "file:///etc/passwd" }).end(),
    );
    await expect(fetchText(`http://web.test:${port}/`)).rejects.toThrow("no http or https address");
  });

  it("ends with what is too large, packed or not, with what never ends, and with what leads on for ever", async () => {
    const port = await serve((request, response) => {
      if (request.url === "/hang") return undefined;
      if (request.url === "/on") return response.writeHead(302, { location: "/on" }).end();
      if (request.url === "/packed")
        return response
          .writeHead(200, { "content-encoding": "gzip" })
          .end(gzipSync(Buffer.alloc(1_000_000, "a")));
      return response.writeHead(200).end(Buffer.alloc(20_000, "a"));
    });
    const at = `http://web.test:${port}`;
    await expect(fetchText(`${at}/big`, { maxBytes: 10_000 })).rejects.toThrow("larger than 0.01 MB");
    await expect(fetchText(`${at}/packed`, { maxBytes: 10_000 })).rejects.toThrow("not fetched");
    await expect(fetchText(`${at}/hang`, { timeMs: 50 })).rejects.toThrow("did not answer within 0.05 s");
    await expect(fetchText(`${at}/on`)).rejects.toThrow("led on more than 5 times");
  });

  it("says what is no text, and which status an address has answered with", async () => {
    const port = await serve((request, response) =>
      request.url === "/dot.png"
        ? response.writeHead(200, { "content-type": "image/png" }).end("x")
        : response.writeHead(404).end(html("gone")),
    );
    await expect(fetchText(`http://web.test:${port}/dot.png`)).rejects.toThrow(
      "it is image/png, and no text",
    );
    await expect(fetchText(`http://web.test:${port}/none`)).rejects.toThrow("answered with status 404");
  });
});

describe("a private address", () => {
  it("is every one of the ranges that the web does not route, in whatever form", () => {
    for (const address of [
      "0.0.0.0",
      "10.1.2.3",
      "100.64.0.1",
      "127.0.0.1",
      "169.254.169.254",
      "172.31.255.255",
      "192.168.1.1",
      "198.18.0.1",
      "224.0.0.1",
      "255.255.255.255",
      "::",
      "::1",
      "fe80::1",
      "fc00::1",
      "ff02::1",
      "::ffff:127.0.0.1",
      "64:ff9b::7f00:1",
      "2002:7f00:1::",
      "2001:db8::1",
      "no address",
    ])
      expect(isPrivate(address)).toBe(true);
    for (const address of ["8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111"])
      expect(isPrivate(address)).toBe(false);
  });

  it("is every address of 10.0.0.0/8", () => {
    fc.assert(fc.property(fc.ipV4(), (address) => isPrivate(address.replace(/^\d+/u, "10"))));
  });
});
