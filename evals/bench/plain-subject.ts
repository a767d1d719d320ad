/** The agent that Lily is measured against: LangGraph as its guide shows it, a model and its tools, with or without a saver. */
import { join } from "node:path";
import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { MessagesValue, START, StateGraph, StateSchema } from "@langchain/langgraph";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { benchmarkText } from "./benchmark-text.ts";
import { InstantModel } from "./instant-model.ts";
import { LOOK_UP, lookUp } from "./look-up.ts";
import type { Subject, SubjectOptions } from "./subject.ts";

const AgentState = new StateSchema({ messages: MessagesValue });

/** A plain agent whose conversations can be put in place without driving them. */
export interface PlainSubject extends Subject {
  /** Writes a conversation of `turns` turns as one state. */
  preload(conversation: string, turns: number): Promise<void>;
}

/** Opens the plain agent with its saver in `folder`. */
export function openPlainSubject(folder: string, options: SubjectOptions): PlainSubject {
  const saver = SqliteSaver.fromConnString(join(folder, "checkpoints.sqlite"));
  const model = new InstantModel(options);
  const agent = compile(model, saver);
  return {
    async turn(conversation, text) {
      await agent.invoke({ messages: [new HumanMessage(text)] }, threadOf(conversation));
    },
    async readState(conversation) {
      const { values } = await agent.getState(threadOf(conversation));
      if (!Array.isArray(values?.messages)) throw new Error(`there is no conversation ${conversation}`);
    },
    async preload(conversation, turns) {
      const messages = Array.from({ length: turns }, (_, index) => messagesOfTurn(index + 1, options)).flat();
      await agent.updateState(threadOf(conversation), { messages }, "agent");
    },
    given: () => model.given,
    async settle() {
      saver.db.pragma("wal_checkpoint(TRUNCATE)");
    },
    async close() {
      saver.db.close();
    },
  };
}

/** The same agent without a saver: it is given the new message alone and keeps nothing. */
export function openFloorSubject(options: SubjectOptions): Subject {
  const model = new InstantModel(options);
  const agent = compile(model);
  return {
    async turn(_conversation, text) {
      await agent.invoke({ messages: [new HumanMessage(text)] });
    },
    readState: async () => undefined,
    given: () => model.given,
    settle: async () => undefined,
    close: async () => undefined,
  };
}

function compile(model: InstantModel, saver?: SqliteSaver) {
  const bound = model.bindTools([lookUp]);
  return new StateGraph(AgentState)
    .addNode("agent", async ({ messages }) => ({ messages: [await bound.invoke(messages)] }))
    .addNode("tools", new ToolNode([lookUp]))
    .addEdge(START, "agent")
    .addConditionalEdges("agent", toolsCondition)
    .addEdge("tools", "agent")
    .compile(saver === undefined ? {} : { checkpointer: saver });
}

const threadOf = (conversation: string) => ({ configurable: { thread_id: conversation } });

/** As a driven turn leaves them. Ids of calls are none that the model gives: `ToolNode` runs no call that has a result. */
function messagesOfTurn(turn: number, { usesTools }: SubjectOptions): BaseMessage[] {
  const id = (part: number): string =>
    `${String(turn).padStart(8, "0")}-0000-4000-8000-${String(part).padStart(12, "0")}`;
  const question = new HumanMessage({ content: benchmarkText(turn, "question"), id: id(0) });
  const answer = new AIMessage({
    content: benchmarkText(turn, "answer"),
    id: `run-${id(1)}`,
    response_metadata: { finish_reason: "stop" },
  });
  if (!usesTools) return [question, answer];
  const call = {
    name: LOOK_UP,
    args: { query: `item ${turn * 7}` },
    id: `call-of-turn-${turn}`,
    type: "tool_call",
  } as const;
  return [
    question,
    new AIMessage({ content: "", tool_calls: [call], id: `run-${id(2)}` }),
    new ToolMessage({
      content: `nothing is known of item ${turn * 7}`,
      tool_call_id: call.id,
      name: LOOK_UP,
      id: id(3),
    }),
    answer,
  ];
}
