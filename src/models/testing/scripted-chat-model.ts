/** A chat model that plays a script: for tests and demonstrations that need neither key nor network. */
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BindToolsInput,
} from "@langchain/core/language_models/chat_models";
import { LilyError } from "#src/kernel/errors.ts";
import type { ChatModelOptions, ChatModels } from "../chat-model.ts";
import { parseModelReference, printModelReference } from "../model-reference.ts";
import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import type { BaseLanguageModelInput } from "@langchain/core/language_models/base";
import type { AIMessageChunk, BaseMessage } from "@langchain/core/messages";
import type { ChatGenerationChunk, ChatResult } from "@langchain/core/outputs";
import type { Runnable } from "@langchain/core/runnables";
import { settleToolCalls } from "../final-message.ts";
import { recordMessages, type ScriptedCall, toolNameOf } from "./scripted-record.ts";
import { chunksOfStep, echoStep, type Script, type ScriptedStep, stepOf } from "./scripted-step.ts";
import type { Sleep } from "#src/kernel/clock.ts";
import { sleepByTimer } from "../retry-model.ts";
import { guardStream } from "../stream-guard.ts";

/** Call options of a {@link ScriptedChatModel}. */
export interface ScriptedCallOptions extends BaseChatModelCallOptions {
  /** Names of the tools bound to the call. */
  readonly toolNames?: readonly string[];
}

/** Answers each call with the next step of its script; without a script, with what the last user message said. */
export class ScriptedChatModel extends BaseChatModel<ScriptedCallOptions> {
  /** Every call in order, also those that failed or were aborted. Models with bound tools share it. */
  readonly calls: ScriptedCall[] = [];
  readonly #script: Script;
  readonly #sleep: Sleep;

  constructor(script: Script = echoStep, options: { readonly sleep?: Sleep } = {}) {
    super({});
    this.#script = script;
    this.#sleep = options.sleep ?? sleepByTimer;
  }

  override _llmType(): string {
    return "scripted";
  }

  override bindTools(
    tools: BindToolsInput[],
    options: Partial<ScriptedCallOptions> = {},
  ): Runnable<BaseLanguageModelInput, AIMessageChunk, ScriptedCallOptions> {
    return this.withConfig({ ...options, toolNames: tools.map(toolNameOf) });
  }

  override async invoke(
    input: BaseLanguageModelInput,
    options?: Partial<ScriptedCallOptions>,
  ): Promise<AIMessageChunk> {
    return settleToolCalls(await super.invoke(input, options));
  }

  /** @throws What the step throws; an error that names the call when the script has no step for it. */
  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const call = this.#record(messages, options);
    const step = await stepOf(this.#script, messages, this.calls.length - 1);
    const guarded = guardStream((signal) => this.#play(step, signal), { signal: options.signal });
    for await (const chunk of guarded) {
      if (chunk.text !== "") call.streamed.push(chunk.text);
      yield chunk;
      await runManager?.handleLLMNewToken(chunk.text, undefined, undefined, undefined, undefined, { chunk });
    }
    call.completed = true;
  }

  override async _generate(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): Promise<ChatResult> {
    let joined: ChatGenerationChunk | undefined;
    for await (const chunk of this._streamResponseChunks(messages, options, runManager)) {
      joined = joined === undefined ? chunk : joined.concat(chunk);
    }
    return { generations: joined === undefined ? [] : [joined] };
  }

  #record(messages: readonly BaseMessage[], options: this["ParsedCallOptions"]): ScriptedCall {
    const toolNames = [...(options.toolNames ?? [])];
    const call: ScriptedCall = {
      messages: recordMessages(messages),
      toolNames,
      streamed: [],
      completed: false,
    };
    this.calls.push(call);
    return call;
  }

  async *#play(step: ScriptedStep, signal: AbortSignal): AsyncGenerator<ChatGenerationChunk> {
    for (const chunk of chunksOfStep(step)) {
      signal.throwIfAborted();
      if (step.delayMs !== undefined) await this.#sleep(step.delayMs, signal);
      yield chunk;
    }
    signal.throwIfAborted();
    if (step.error !== undefined) throw step.error;
  }
}

/** A source that also remembers what it was asked for. */
export interface ScriptedChatModels extends ChatModels {
  readonly asked: readonly { readonly reference: string; readonly options: ChatModelOptions }[];
}

/** Makes a source of exactly the models in `models`, keyed by full reference (`scripted:main`, `openai:gpt-4o`). */
export function createScriptedChatModels(
  models: Readonly<Record<string, BaseChatModel>>,
): ScriptedChatModels {
  const asked: { reference: string; options: ChatModelOptions }[] = [];
  return {
    asked,
    async chatModel(text, options = {}) {
      const reference = printModelReference(parseModelReference(text));
      asked.push({ reference, options });
      const model = Object.hasOwn(models, reference) ? models[reference] : undefined;
      if (model !== undefined) return model;
      throw new LilyError("model_unknown", `No model is scripted for ${reference}.`, {
        next: "Add it to the models of the test.",
      });
    },
  };
}
