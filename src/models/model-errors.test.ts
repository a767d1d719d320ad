import { ContextOverflowError, ModelAbortError } from "@langchain/core/errors";
import { describe, expect, it } from "vitest";
import { LilyError } from "#src/kernel/errors.ts";
import { classifyModelError, modelFailedError } from "./model-errors.ts";
import { ModelStreamError } from "./stream-guard.ts";

function errorWith(fields: object, message = "it failed"): Error {
  return Object.assign(new Error(message), fields);
}

function named(name: string): Error {
  return errorWith({ name });
}

describe("a prompt that is too long", () => {
  it.each([
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 199999 + 4096 > 200000",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "Input is too long for requested model.",
    "Input Tokens Exceeded: Number of input tokens exceeds maximum length.",
    "Too many input tokens. Max input tokens: 8192, request input token count: 9000",
    "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000",
    "the request exceeds the available context size, try increasing it",
    "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens",
    "Input validation error: `inputs` must have less than 1024 tokens. Given: 1200",
    "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    "Please reduce the length of the messages or completion. Current length is 10000 while limit is 8192",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]",
    "Invalid request: Your request exceeded model token limit: 8192",
    "Prompt exceeds max length",
    "Prompt 超长",
    "prompt token count of 150000 exceeds the limit of 128000",
    "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens",
    "the number of input tokens 4097 cannot exceed the total tokens limit 4096 for this model",
    "invalid params, context window exceeds limit (2013)",
  ])("is known by its server's words: %s", (words) => {
    for (const status of [400, 413, 422, 500])
      expect(classifyModelError(errorWith({ status }, words)).kind).toBe("context_length");
    expect(classifyModelError(new Error(words)).kind).toBe("context_length");
  });

  it("is one that is above a limit by the minute alone, which waiting does not help", () => {
    const words =
      "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 45000. The input or output tokens must be reduced in order to run successfully.";
    expect(classifyModelError(errorWith({ status: 429 }, words)).kind).toBe("context_length");
  });

  it.each([
    "max_tokens is too large: 8000. This model supports at most 4096 completion tokens",
    "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got 42",
    "image input exceeds the maximum size of 20 MB",
    "Too many images in the request: at most 10",
    "Unsupported value: 'temperature' exceeds 2",
    "Invalid schema for function: name is too long",
  ])("is not what is told with: %s", (words) => {
    expect(classifyModelError(errorWith({ status: 400 }, words)).kind).not.toBe("context_length");
  });
});

describe("classifyModelError", () => {
  it.each<[string, unknown, string, boolean]>([
    ["a DOM abort", new DOMException("stop", "AbortError"), "aborted", false],
    ["LangChain's abort", new ModelAbortError("stop"), "aborted", false],
    ["a deadline", new DOMException("late", "TimeoutError"), "timeout", true],
    ["LangChain's overflow", new ContextOverflowError("long"), "context_length", false],
    [
      "llama.cpp's overflow",
      errorWith({ status: 400, type: "exceed_context_size_error" }),
      "context_length",
      false,
    ],
    ["a body that is too large", errorWith({ status: 413 }), "context_length", false],
    ["tokens per minute", errorWith({ status: 429 }, "context window tokens per minute"), "rate_limit", true],
    ["a request timeout", errorWith({ status: 408 }), "timeout", true],
    [
      "OpenAI's refusal of a picture",
      errorWith({ status: 400 }, "Invalid content type. image_url is only supported by certain models."),
      "unsupported_content",
      false,
    ],
    [
      "OpenRouter's refusal of a picture",
      errorWith({ status: 404 }, "No endpoints found that support image input"),
      "unsupported_content",
      false,
    ],
    [
      "llama.cpp's refusal of a picture",
      errorWith({ status: 500 }, "image input is not supported - hint: you may need to provide the mmproj"),
      "unsupported_content",
      false,
    ],
    [
      "LangChain's refusal of a recording",
      new Error("Audio blocks with source_type base64 must have mime type of audio/wav or audio/mp3"),
      "unsupported_content",
      false,
    ],
    [
      "a picture that cannot be read",
      errorWith({ status: 400 }, "Could not process image"),
      "bad_request",
      false,
    ],
    [
      "a parameter that is unsupported",
      errorWith({ status: 400 }, "Unsupported parameter: n"),
      "bad_request",
      false,
    ],
    ["a conflict", errorWith({ status: 409 }), "overloaded", true],
    ["a bad gateway", errorWith({ status: 502 }), "overloaded", true],
    ["an unprocessable request", errorWith({ status: 422 }), "bad_request", false],
    ["a status as code in a stream", errorWith({ code: 400 }), "bad_request", false],
    ["a rate limit in a stream", errorWith({ code: "rate_limit_exceeded" }), "rate_limit", true],
    ["a bad key in a stream", errorWith({ code: "invalid_api_key" }), "auth", false],
    ["an overload in a stream", errorWith({ type: "overloaded_error" }), "overloaded", true],
    [
      "a refused connection",
      errorWith({ cause: errorWith({ code: "ECONNREFUSED" }) }, "fetch failed"),
      "connection",
      true,
    ],
    [
      "an unknown host",
      errorWith({ cause: errorWith({ code: "ENOTFOUND" }) }, "Connection error."),
      "connection",
      true,
    ],
    [
      "a slow handshake",
      errorWith({ cause: errorWith({ code: "UND_ERR_CONNECT_TIMEOUT" }) }),
      "timeout",
      true,
    ],
    ["a body that ended", new TypeError("terminated"), "cut_stream", true],
    ["broken JSON", new SyntaxError("Unexpected token"), "malformed", true],
    ["a reset behind text", interrupted(errorWith({ code: "ECONNRESET" })), "cut_stream", true],
    ["anything behind text", interrupted(new Error("?")), "cut_stream", true],
    ["an overload behind text", interrupted(errorWith({ type: "server_error" })), "overloaded", true],
    ["a programming error", new TypeError("x is not a function"), "unknown", false],
    ["a thrown text", "boom", "unknown", false],
    ["nothing", undefined, "unknown", false],
  ])("knows %s", (_name, error, kind, retryable) => {
    expect(classifyModelError(error)).toMatchObject({ kind, retryable });
  });

  it.each([new TypeError("chunk.args?.trim is not a function"), new ReferenceError("x is not defined")])(
    "D-3 shows nobody a mistake of the program: %s",
    (error) => {
      expect(classifyModelError(error).message).toBe("The model call failed. Send the message again.");
    },
  );

  it("follows causes that end in a circle", () => {
    const error = errorWith({});
    expect(classifyModelError(Object.assign(error, { cause: error })).kind).toBe("unknown");
  });

  it.each<[string, Record<string, string>, number | undefined]>([
    ["seconds", { "retry-after": "3" }, 3000],
    ["milliseconds first", { "retry-after": "3", "retry-after-ms": "1500" }, 1500],
    [
      "a date against the server's clock",
      { "retry-after": "Wed, 21 Oct 2026 07:28:10 GMT", date: "Wed, 21 Oct 2026 07:28:00 GMT" },
      10_000,
    ],
    [
      "a date without the server's clock as nothing",
      { "retry-after": "Wed, 21 Oct 2026 07:28:10 GMT" },
      undefined,
    ],
    ["nonsense as nothing", { "retry-after": "-1" }, undefined],
  ])("reads retry-after: %s", (_name, headers, expected) => {
    const limited = errorWith({ status: 429, headers: new Headers(headers) });
    expect(classifyModelError(limited).retryAfterMs).toBe(expected);
  });

  it("says what happened and what to do", () => {
    const limited = classifyModelError(
      errorWith({ status: 429, headers: new Headers({ "retry-after": "90" }) }),
    );
    expect(limited.message).toBe(
      "The model server limits how often it is asked (HTTP 429): it failed. Try again in 90 s.",
    );
    const broke = classifyModelError(errorWith({ status: 429, code: "insufficient_quota" }));
    expect(broke).toMatchObject({
      retryable: false,
      message: expect.stringContaining("Add credit") as unknown,
    });
  });

  it("tells the server's own words once, without the status again, shortened", () => {
    const { message } = classifyModelError(
      errorWith({ status: 400 }, `400 no such model\n\nTroubleshooting URL: x`),
    );
    expect(message).toBe(
      "The model server refused the request (HTTP 400): no such model. Check the model name and OPENAI_BASE_URL.",
    );
    expect(classifyModelError(errorWith({ status: 400 }, "x".repeat(5000))).message.length).toBeLessThan(450);
  });

  it.each([
    "key sk-proj-abcdefgh123 is wrong",
    "Authorization: Bearer eyJhbGciOi.J9",
    'the api_key="hunter2-hunter2" is wrong',
    "fetch http://user:hunter2-hunter2@host/v1 failed",
  ])("hides the secret in %j", (text) => {
    for (const error of [errorWith({ status: 400 }, text), errorWith({}, text)]) {
      const shown = classifyModelError(error).message;
      expect(shown).toContain("[hidden]");
      expect(shown).not.toMatch(/abcdefgh|eyJhb|hunter2/u);
    }
  });
});

describe("modelFailedError", () => {
  it("is model_failed with the way out apart, and keeps the cause", () => {
    const cause = named("TimeoutError");
    const error = modelFailedError(cause);
    expect(error).toMatchObject({ code: "model_failed", next: "Send the message again.", cause });
    expect(error.message).toBe("The model server took too long to answer: it failed.");
  });

  it("leaves a LilyError as it is", () => {
    const error = new LilyError("config_invalid", "No server.");
    expect(modelFailedError(error)).toBe(error);
  });
});

function interrupted(cause: unknown): ModelStreamError {
  return new ModelStreamError("interrupted", "The answer broke off.", { streamed: true, cause });
}
