/** What a server answers to bytes that are no HTTP request: a problem like any other, written by hand. */
import type { Duplex } from "node:stream";
import { LilyError } from "#src/kernel/errors.ts";
import { problemOf } from "./problem.ts";

/** Answers on a connection whose request could not be parsed, and ends it. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem = problemOf(refusalOf(error), () => undefined);
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${problem.title}`,
    "Content-Type: application/problem+json",
    "Cache-Control: no-store",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

function refusalOf({ code }: NodeJS.ErrnoException): LilyError {
  if (code === "HPE_HEADER_OVERFLOW") {
    return new LilyError("request_too_large", "path and headers together are too long", {
      next: "Use shorter keys and headers.",
    });
  }
  return new LilyError("request_invalid", "this is not a valid HTTP request", {
    next: "Percent-encode each part of the path, as encodeURIComponent does.",
  });
}
