/** Finds the error in what a server sent: OpenAI's form, and those of vLLM, Ollama, Mistral, FastAPI, gateways. */
import { isRecord, parseJson } from "#src/kernel/json.ts";

/** An error in OpenAI's form. */
export interface ServerError {
  /** The server's own words. */
  readonly message: string;
  /** A name, or an HTTP status. */
  readonly code?: string | number;
  readonly type?: string;
  /** The field of the request that it is about. */
  readonly param?: string;
}

/** The error of a body with an error status, whatever form it has; `undefined` for an empty one. */
export function errorOfText(text: string): ServerError | undefined {
  // Plain text or a page.
  const body = parseJson(text) ?? text;
  const known = errorIn(body) ?? errorFrom(body);
  if (known !== undefined) return known;
  const plain = typeof body === "string" ? body : text;
  const message = /<html|<!doctype/iu.test(plain) ? textOfPage(plain) : plain.trim();
  return message === "" ? undefined : { message };
}

/** The error that a body or event names as one, also where the status was 200; `undefined` when it names none. */
export function errorIn(body: unknown): ServerError | undefined {
  if (Array.isArray(body)) return body.map(errorIn).find((error) => error !== undefined);
  if (!isRecord(body)) return undefined;
  const { error } = body;
  if (typeof error === "string" && error !== "") return { ...errorFrom(body), message: error };
  if (isRecord(error)) return errorFrom(error);
  if (body["object"] === "error" || "error_code" in body) return errorFrom(body);
  return undefined;
}

/** The error of a whole body that holds no answer: some gateways say with a status of 200, and in a form of their own, why not. */
export function errorWithoutAnswer(body: unknown): ServerError | undefined {
  const isAnswer = isRecord(body) && (Array.isArray(body["choices"]) || isRecord(body["message"]));
  return isAnswer ? undefined : errorFrom(body);
}

function errorFrom(body: unknown): ServerError | undefined {
  const message = wordsOf(body);
  if (!isRecord(body) || message === "") return undefined;
  const code = [body["code"], body["status"], body["statusCode"], body["error_code"]].find(
    (value) => typeof value === "string" || typeof value === "number",
  );
  const { type, param } = body;
  return {
    message,
    ...(code === undefined ? {} : { code }),
    ...(typeof type === "string" ? { type } : {}),
    ...(typeof param === "string" ? { param } : {}),
  };
}

/** Where words are looked for, in this order. */
const WORDS = [
  "message",
  "msg",
  "detail",
  "details",
  "errors",
  "title",
  "text",
  "error",
  "status_msg",
  "base_resp",
];

/** How deep words are looked for: `{ message: { detail: [{ msg }] } }` and one more. */
const MAX_DEPTH = 5;

function wordsOf(value: unknown, depth = 0): string {
  if (typeof value === "string") return value.trim();
  if (depth > MAX_DEPTH) return "";
  if (Array.isArray(value))
    return value
      .map((item) => wordsOf(item, depth + 1))
      .filter((words) => words !== "")
      .join("; ");
  if (!isRecord(value)) return "";
  const own = WORDS.map((key) => wordsOf(value[key], depth + 1)).find((words) => words !== "") ?? "";
  // FastAPI says in `loc` which field it is about, OpenRouter in `metadata.raw` what the server behind it said.
  const { loc, metadata } = value;
  const place = Array.isArray(loc) ? `${loc.join(".")}: ` : "";
  const raw = isRecord(metadata) && typeof metadata["raw"] === "string" ? metadata["raw"] : "";
  const behind = raw === "" ? "" : `: ${errorOfText(raw)?.message ?? raw}`;
  return own === "" ? "" : `${place}${own}${behind}`;
}

/** The title of a page, or its text. */
function textOfPage(page: string): string {
  const title = /<title[^>]*>([^<]*)<\/title>/iu.exec(page)?.[1]?.trim() ?? "";
  return title === ""
    ? page
        .replaceAll(/<[^>]*>/gu, " ")
        .replaceAll(/\s+/gu, " ")
        .trim()
    : title;
}
