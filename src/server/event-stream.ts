/** Server-sent events: a response that goes on while something runs. */

/** Sends one event; does nothing once the client is gone. */
export type SendEvent = (event: string, data: unknown) => void;

/** Calls `tick` again and again until the returned function is called. */
export type Every = (ms: number, tick: () => void) => () => void;

/** Options of {@link eventStream}. */
export interface EventStreamOptions {
  readonly every: Every;
  /** Time between comments that keep the connection from being taken for dead. */
  readonly heartbeatMs: number;
}

/** By the system's timers. */
export const everyByTimer: Every = (ms, tick) => {
  const timer = setInterval(tick, ms);
  return () => clearInterval(timer);
};

/**
 * The response whose events `run` sends; it ends when `run` does, which must not reject. A client that goes away ends
 * nothing but the sending.
 */
export function eventStream(
  run: (send: SendEvent) => Promise<void>,
  { every, heartbeatMs }: EventStreamOptions,
): Response {
  const encoder = new TextEncoder();
  let isGone = false;
  let stopHeartbeat = (): void => undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const write = (text: string): void => {
        if (!isGone) controller.enqueue(encoder.encode(text));
      };
      // At once, so that the client sees that it was taken before the first word of the answer is there.
      write(": lily\n\n");
      stopHeartbeat = every(heartbeatMs, () => write(": waiting\n\n"));
      // JSON has no line breaks of its own, so one line is one event.
      void run((event, data) => write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)).finally(() => {
        stopHeartbeat();
        if (!isGone) controller.close();
      });
    },
    cancel() {
      isGone = true;
      stopHeartbeat();
    },
  });
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      // Asks proxies of the nginx kind to pass on what comes.
      "x-accel-buffering": "no",
    },
  });
}
