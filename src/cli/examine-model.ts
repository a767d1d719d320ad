/** Asks a model a few small questions, and says of each whether its server answers as Lily needs it. */
import {
  AIMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type BaseMessage,
} from "@langchain/core/messages";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { concat } from "@langchain/core/utils/stream";
import type { ChatModels } from "#src/models/chat-model.ts";
import { cutOf, finalMessage } from "#src/models/final-message.ts";
import { modelFailedError } from "#src/models/model-errors.ts";
import { fine, warning, wrong, type Check } from "#src/upkeep/check.ts";

/** Longest time for one question, in milliseconds; a local model may have to be loaded first. */
const QUESTION_MS = 180_000;

const ADD = {
  type: "function",
  function: {
    name: "add",
    description: "Adds two whole numbers.",
    parameters: {
      type: "object",
      properties: { a: { type: "integer" }, b: { type: "integer" } },
      required: ["a", "b"],
    },
  },
} as const;

const SUM = new HumanMessage("Use the tool add to add 1234 and 4321. Then tell me the sum.");
const INSTRUCTED = [new SystemMessage("Answer every message with the word: lily"), new HumanMessage("Hi")];
const LONG = new HumanMessage("Write the numbers from 1 to 150, one a line, and nothing else.");
const CALL_TOOLS =
  "Check that the server was started with tool calling for this model, or choose one that calls tools.";

/**
 * One row a question: plain, streaming, instructions, a tool call, its result, a long answer; then what the server has
 * refused. Where the first finds no server, it is the only one.
 *
 * @throws {LilyError} `model_unknown`, `config_invalid`
 */
export async function examineModel(models: ChatModels, reference: string): Promise<Check[]> {
  const model = await models.chatModel(reference);
  const plain = await ask("model: plain", model, [new HumanMessage("Say only the word: ready")], plainRow);
  if (plain.state === "bad") return [plain];
  const rows = [
    plain,
    await ask("model: instructions", model, INSTRUCTED, instructionRow),
    await ask("model: streaming", model, [new HumanMessage("Name the days of the week.")], streamRow),
    ...(await toolRows(model)),
    await ask("model: long answer", model, [LONG], longRow),
  ];
  const refused = models.takeNotices?.(reference) ?? [];
  return [
    ...rows,
    ...refused.map((notice) => warning("model: abilities", notice, "Nothing; it is left out by itself.")),
  ];
}

/** What came of a question. */
interface Heard {
  readonly check: string;
  readonly message: AIMessage;
  /** Pieces of the answer that had text. */
  readonly pieces: number;
}

type Row = (heard: Heard) => Check;

async function ask(
  check: string,
  model: Pick<BaseChatModel, "stream">,
  messages: BaseMessage[],
  row: Row,
): Promise<Check> {
  const heard = await hear(check, model, messages);
  return "state" in heard ? heard : row(heard);
}

async function hear(
  check: string,
  model: Pick<BaseChatModel, "stream">,
  messages: BaseMessage[],
): Promise<Heard | Check> {
  try {
    let whole;
    let pieces = 0;
    for await (const chunk of await model.stream(messages, { signal: AbortSignal.timeout(QUESTION_MS) })) {
      whole = whole === undefined ? chunk : concat(whole, chunk);
      if (chunk.text !== "") pieces += 1;
    }
    return { check, pieces, message: whole === undefined ? new AIMessage("") : finalMessage(whole) };
  } catch (error) {
    const { message, next, code } = modelFailedError(error);
    return wrong(check, message, { next, code });
  }
}

function plainRow({ check, message }: Heard): Check {
  const thought =
    "reasoning_content" in message.additional_kwargs ? ", after thoughts that are kept apart" : "";
  if (message.text.trim() === "")
    return wrong(check, "the answer has no text", { code: "model_failed", next: "Choose another model." });
  return fine(check, `answers${thought}`);
}

function instructionRow({ check, message }: Heard): Check {
  if (/lily/iu.test(message.text)) return fine(check, "are followed");
  return warning(
    check,
    `were not followed: ${quoted(message)}`,
    "Choose a model that follows instructions better.",
  );
}

function streamRow({ check, pieces, message }: Heard): Check {
  const counted = message.usage_metadata === undefined ? "; usage is counted by estimate" : "";
  if (pieces > 1) return fine(check, `comes in ${pieces} pieces${counted}`);
  return warning(
    check,
    `the answer comes in one piece${counted}`,
    "Switch streaming on in the server, or wait longer.",
  );
}

async function toolRows(model: BaseChatModel): Promise<Check[]> {
  const check = "model: tool call";
  const bound = model.bindTools?.([ADD]);
  if (bound === undefined) return [warning(check, "tools cannot be offered", CALL_TOOLS)];
  const asking = { stream: bound.stream.bind(bound) } as Pick<BaseChatModel, "stream">;
  const heard = await hear(check, asking, [SUM]);
  if ("state" in heard) return [heard];
  const [call, bad] = [heard.message.tool_calls?.[0], heard.message.invalid_tool_calls?.[0]];
  if (call === undefined)
    return [
      warning(
        check,
        bad === undefined ? `none was made: ${quoted(heard.message)}` : `cannot be read: ${bad.args ?? ""}`,
        CALL_TOOLS,
      ),
    ];
  const row =
    call.name === "add" && Number(call.args["a"]) + Number(call.args["b"]) === 5555
      ? fine(check, "is made with the right arguments")
      : warning(
          check,
          `is made wrongly: ${call.name} ${JSON.stringify(call.args)}`,
          "Choose a model that calls tools better.",
        );
  const result = new ToolMessage({ content: "5555", tool_call_id: call.id ?? "" });
  const resultRow: Row = ({ check: name, message }) =>
    /5[,. ]?555/u.test(message.text)
      ? fine(name, "is read")
      : warning(name, `is not told: ${quoted(message)}`, CALL_TOOLS);
  return [row, await ask("model: tool result", asking, [SUM, heard.message, result], resultRow)];
}

function longRow({ check, message }: Heard): Check {
  const cut = cutOf(message);
  const numbers = message.text.match(/\d+/gu)?.length ?? 0;
  if (cut !== undefined)
    return warning(
      check,
      `is cut after ${numbers} of 150 numbers (${cut})`,
      "Raise the longest answer in the server's settings.",
    );
  return numbers >= 150
    ? fine(check, "is whole")
    : warning(check, `ends after ${numbers} of 150 numbers`, "Nothing, if longer answers are whole.");
}

function quoted({ text }: AIMessage): string {
  return JSON.stringify(text.slice(0, 80));
}
