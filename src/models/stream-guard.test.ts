import { ModelAbortError } from "@langchain/core/errors";
import { AIMessageChunk } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { describe, expect, it } from "vitest";
import { guardStream, type StreamLimits } from "./stream-guard.ts";

function chunk(text: string, finishReason?: string): ChatGenerationChunk {
  const generationInfo = finishReason === undefined ? {} : { finish_reason: finishReason, model_name: "m" };
  return new ChatGenerationChunk({ text, message: new AIMessageChunk(text), generationInfo });
}

async function read(source: () => AsyncIterable<ChatGenerationChunk>, limits: StreamLimits = {}) {
  const texts: string[] = [];
  let error: unknown;
  try {
    for await (const next of guardStream(source, limits)) texts.push(next.text);
  } catch (thrown) {
    error = thrown;
  }
  return { texts, error };
}

async function* sourceOf(...items: readonly (ChatGenerationChunk | Error)[]) {
  for (const item of items) {
    if (item instanceof Error) throw item;
    yield item;
  }
}

describe("guardStream", () => {
  it("passes a complete answer on and puts the finish reason into the message", async () => {
    const last = chunk("", "stop");
    expect(await read(() => sourceOf(chunk("a"), chunk("b"), last))).toEqual({
      texts: ["a", "b", ""],
      error: undefined,
    });
    expect(last.message.response_metadata).toEqual({ finish_reason: "stop", model_name: "m" });
  });

  it("takes usage after the finish", async () => {
    expect((await read(() => sourceOf(chunk("a", "stop"), chunk("")))).error).toBeUndefined();
  });

  it("fails an answer without a finish reason as cut", async () => {
    const { texts, error } = await read(() => sourceOf(chunk("a")));
    expect(texts).toEqual(["a"]);
    expect(error).toMatchObject({ name: "ModelStreamError", failure: "cut_stream", streamed: true });
  });

  it("fails an answer of nothing as malformed", async () => {
    expect((await read(() => sourceOf())).error).toMatchObject({ failure: "malformed", streamed: false });
  });

  it("throws an early failure as it came, and wraps a late one", async () => {
    const cause = new TypeError("terminated");
    expect((await read(() => sourceOf(chunk(""), cause))).error).toBe(cause);
    expect((await read(() => sourceOf(chunk("a"), cause))).error).toMatchObject({
      failure: "interrupted",
      streamed: true,
      cause,
    });
  });

  it("counts tool calls as streamed", async () => {
    const message = new AIMessageChunk({
      content: "",
      tool_call_chunks: [{ index: 0, name: "a", args: "" }],
    });
    const call = new ChatGenerationChunk({ text: "", message });
    expect((await read(() => sourceOf(call))).error).toMatchObject({ failure: "cut_stream", streamed: true });
  });

  it("ends a silent source and tells it to stop", async () => {
    let stopped = false;
    const silent = (signal: AbortSignal) => stuckAfter(chunk("a"), signal, () => (stopped = true));
    const reading = async () => {
      for await (const _next of guardStream(silent, { silenceMs: 10 }));
    };
    await expect(reading()).rejects.toMatchObject({ failure: "timeout", streamed: true });
    expect(stopped).toBe(true);
  });

  it("does not count the reader's own time as silence", async () => {
    const texts: string[] = [];
    for await (const next of guardStream(() => sourceOf(chunk("a"), chunk("b", "stop")), { silenceMs: 10 })) {
      await new Promise((resolve) => setTimeout(resolve, 25));
      texts.push(next.text);
    }
    expect(texts).toEqual(["a", "b"]);
  });

  it("turns an abort into an error with the part that came, also when the source just ends", async () => {
    const controller = new AbortController();
    const ending = async function* () {
      yield chunk("a");
      yield chunk("b");
      controller.abort();
    };
    const { error } = await read(ending, { signal: controller.signal });
    expect(ModelAbortError.isInstance(error) && error.partialOutput?.text).toBe("ab");
  });

  it("closes the source when the reader leaves", async () => {
    let closed = false;
    const open = async function* () {
      try {
        yield chunk("a");
        yield chunk("b");
      } finally {
        closed = true;
      }
    };
    for await (const _next of guardStream(open, {})) break;
    expect(closed).toBe(true);
  });
});

async function* stuckAfter(first: ChatGenerationChunk, signal: AbortSignal, onStop: () => void) {
  yield first;
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  onStop();
}
