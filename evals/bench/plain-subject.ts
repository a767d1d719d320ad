/** The agent that Lily is measured against: LangGraph as its guide shows it, a model, its tools and a SQLite saver. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MessagesValue, START, StateGraph, StateSchema } from "@langchain/langgraph";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { z } from "zod";
import { InstantModel } from "./instant-model.ts";
import type { Subject } from "./subject.ts";

const AgentState = new StateSchema({ messages: MessagesValue });

const lookUp = tool(async ({ query }) => `nothing is known of ${query}`, {
  name: "look_up",
  description: "Looks something up.",
  schema: z.object({ query: z.string() }),
});

/** Opens the plain agent on one thread. */
export async function openPlainSubject(): Promise<Subject> {
  const folder = mkdtempSync(join(tmpdir(), "plain-agent-"));
  const saver = SqliteSaver.fromConnString(join(folder, "checkpoints.sqlite"));
  const agent = compile(saver);
  return {
    folder,
    async turn(text) {
      await agent.invoke({ messages: [new HumanMessage(text)] }, { configurable: { thread_id: "bench" } });
    },
    async settle() {
      saver.db.pragma("wal_checkpoint(TRUNCATE)");
    },
    async close() {
      saver.db.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function compile(saver: SqliteSaver) {
  const model = new InstantModel().bindTools([lookUp]);
  return new StateGraph(AgentState)
    .addNode("agent", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addNode("tools", new ToolNode([lookUp]))
    .addEdge(START, "agent")
    .addConditionalEdges("agent", toolsCondition)
    .addEdge("tools", "agent")
    .compile({ checkpointer: saver });
}
