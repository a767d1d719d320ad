/** Brings the tool calls of an answer into OpenAI's form, in which pieces of one call have one index. */
import { isRecord, parseJson } from "#src/kernel/json.ts";

/** A piece of a tool call, as OpenAI sends it. */
export interface ToolCallPiece {
  readonly index: number;
  readonly id?: string;
  readonly type: "function";
  readonly function: { readonly name?: string; readonly arguments: string };
}

interface OpenCall {
  readonly index: number;
  /** The index that the server gave. */
  readonly given: unknown;
  readonly id: string;
  readonly name: string;
  args: string;
  /** Whether it has been passed on. */
  isSent: boolean;
}

/** Reads the tool calls of one answer, which comes whole or in pieces. */
export class ToolCallPieces {
  readonly #calls: OpenCall[] = [];

  /** Whether the answer asks for tools. */
  get areThere(): boolean {
    return this.#calls.length > 0;
  }

  /** The pieces of one delta, in OpenAI's form: arguments are text, and each call has its own index and id. */
  read(calls: unknown): ToolCallPiece[] {
    const listed: readonly unknown[] = Array.isArray(calls) ? calls : [calls];
    const seen = new Set<OpenCall>();
    return listed.filter(isRecord).flatMap((raw) => this.#readOne(raw, seen));
  }

  #readOne(raw: Record<string, unknown>, seen: Set<OpenCall>): ToolCallPiece[] {
    const called = isRecord(raw["function"]) ? raw["function"] : raw;
    const piece = {
      given: raw["index"],
      id: textOf(raw["id"]),
      name: textOf(called["name"]),
      args: argumentsText(called["arguments"] ?? called["parameters"]),
    };
    const known = this.#callOf(piece, seen);
    const call = known ?? this.#open(piece);
    seen.add(call);
    // Some servers send the whole once more at the end.
    const isRepeated = known !== undefined && isComplete(known.args) && known.args === piece.args;
    if (isRepeated) return [];
    call.args += piece.args;
    // Of a second call that has all names of the first nothing is known before its arguments come.
    if (!call.isSent && call.args === "" && this.#isTwin(call)) return [];
    const opening = call.isSent || call.id === "" ? {} : { id: this.#idOf(call) };
    const name = call.isSent ? {} : { name: call.name };
    call.isSent = true;
    return [
      { index: call.index, ...opening, type: "function", function: { ...name, arguments: piece.args } },
    ];
  }

  /** The call that a piece goes on with; none when it begins another. */
  #callOf(
    { given, id, name, args }: { given: unknown; id: string; name: string; args: string },
    seen: ReadonlySet<OpenCall>,
  ): OpenCall | undefined {
    const last = this.#calls.findLast((call) => call.given === given);
    // Without a name it is a piece of what came before, also where the server gives each piece another id.
    if (name === "") return last ?? (given === undefined ? this.#calls.at(-1) : undefined);
    if (last === undefined || seen.has(last)) return undefined;
    const isOther = last.name !== name || (id !== "" && last.id !== "" && id !== last.id);
    const isRepeated = isComplete(last.args) && args === last.args && id !== "" && id === last.id;
    return isOther || (isComplete(last.args) && !isRepeated) ? undefined : last;
  }

  #open({ given, id, name }: { given: unknown; id: string; name: string }): OpenCall {
    const call: OpenCall = { index: this.#calls.length, given, id, name, args: "", isSent: false };
    this.#calls.push(call);
    return call;
  }

  #isTwin({ index, id, name }: OpenCall): boolean {
    return id !== "" && this.#calls.slice(0, index).some((call) => call.id === id && call.name === name);
  }

  /** Its id, or one that no other call of the answer has. */
  #idOf({ index, id }: OpenCall): string {
    return this.#calls.slice(0, index).some((call) => call.id === id) ? `${id}-${index + 1}` : id;
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Some servers send the arguments as an object. */
function argumentsText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

/** Otherwise more of it has to come. */
const isComplete = (args: string): boolean => isRecord(parseJson(args));
