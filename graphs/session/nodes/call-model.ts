/** `callModel`: one call of the reply model, streamed; a stop keeps what was written so far. */
import type { AIMessageChunk, BaseMessage } from "@langchain/core/messages";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { Runnable } from "@langchain/core/runnables";
import type { StructuredToolInterface } from "@langchain/core/tools";
import { LilyError } from "#src/kernel/errors.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { askFirstThatAnswers, type CallRuntime } from "../ask-model.ts";
import { assemblePrompt } from "../prompt.ts";
import { requireTurn } from "../require.ts";
import { readRunContext } from "../run-context.ts";
import type { SessionStateValues, SessionUpdate } from "../state.ts";
import { sessionTools } from "../tools.ts";
import { asksForTools, modelMessagesInFlight } from "../turn-messages.ts";

/** Makes the node. */
export function callModel(deps: SessionDeps) {
  return async (state: SessionStateValues, runtime: CallRuntime): Promise<SessionUpdate> => {
    const { session, turn } = requireTurn(state);
    const run = readRunContext(deps, runtime);
    const { prompt } = await assemblePrompt(deps, run, session, turn);
    const mayCallTools = turn.modelCalls + 1 < deps.limits.modelCalls;
    const solver = turn.solver ?? "";
    const fallbacks = deps.fallbackModels(session.activeAgent).filter((reference) => reference !== solver);
    const answer = await askFirstThatAnswers(deps, [solver, ...fallbacks], {
      open: async (reference) => {
        const model = await deps.models.chatModel(reference, modelOptions(session.modelConfig.temperature));
        return mayCallTools ? bindTools(model, deps.tools ?? []) : model;
      },
      messages: [...prompt, ...modelMessagesInFlight(state, turn)],
      runtime,
      stop: deps.stops.signalFor(session.sessionId),
    });
    if (!mayCallTools && asksForTools(answer.message)) throw outOfCalls(deps.limits.modelCalls);
    return {
      messages: [answer.message],
      turn: {
        ...turn,
        // For this turn only: the session's own choice stays as it is.
        solver: answer.model,
        modelCalls: turn.modelCalls + 1,
        status: answer.stopped ? "stopped" : turn.status,
      },
    };
  };
}

function outOfCalls(limit: number): LilyError {
  return new LilyError(
    "model_failed",
    `the model still asked for tools after ${limit} calls, and was offered none`,
    {
      next: "Ask in smaller steps, or choose another model with /model. Your message was not stored.",
    },
  );
}

function modelOptions(temperature: number | undefined): { temperature?: number } {
  return temperature === undefined ? {} : { temperature };
}

function bindTools(
  model: BaseChatModel,
  others: readonly StructuredToolInterface[],
): Runnable<BaseMessage[], AIMessageChunk> {
  return model.bindTools?.(sessionTools(others)) ?? model;
}
