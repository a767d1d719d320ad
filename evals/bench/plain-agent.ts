/** What Lily is measured against: LangGraph as its guide shows it, a model and its tools, with a saver or without. */
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MessagesValue, START, StateGraph, StateSchema } from "@langchain/langgraph";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { z } from "zod";
import { benchText, InstantModel } from "./instant-model.ts";

const AgentState = new StateSchema({ messages: MessagesValue });

const lookUp = tool(async ({ query }: { query: string }) => `nothing is known of ${query}`, {
  name: "look_up",
  description: "Looks something up.",
  schema: z.object({ query: z.string() }),
});

/** The next turn of an agent that is given the new message alone and keeps nothing. */
export function agentThatKeepsNothing(): () => Promise<void> {
  const agent = compile();
  const next = questions(0);
  return async () => void (await agent.invoke({ messages: [new HumanMessage(next())] }));
}

/** The agent with a `SqliteSaver` in `file`, in a thread of `turns` turns that was written as one state. */
export async function plainAgent(file: string, turns: number) {
  const saver = SqliteSaver.fromConnString(file);
  const agent = compile(saver);
  const config = { configurable: { thread_id: "bench" } };
  const messages = Array.from({ length: turns }, (_, index) => [
    new HumanMessage({ content: benchText(index, "question"), id: `question-${index}` }),
    new AIMessage({ content: benchText(index, "answer"), id: `answer-${index}` }),
  ]).flat();
  await agent.updateState(config, { messages }, "agent");
  const next = questions(turns);
  return {
    turn: async () => void (await agent.invoke({ messages: [new HumanMessage(next())] }, config)),
    close: () => void saver.db.close(),
  };
}

function compile(saver?: SqliteSaver) {
  const bound = new InstantModel({}).bindTools([lookUp]);
  return new StateGraph(AgentState)
    .addNode("agent", async ({ messages }) => ({ messages: [await bound.invoke(messages)] }))
    .addNode("tools", new ToolNode([lookUp]))
    .addEdge(START, "agent")
    .addConditionalEdges("agent", toolsCondition)
    .addEdge("tools", "agent")
    .compile(saver === undefined ? {} : { checkpointer: saver });
}

/** The next question with each call. */
export function questions(start: number): () => string {
  let index = start;
  return () => benchText((index += 1), "question");
}
