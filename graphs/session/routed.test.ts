import { HumanMessage, AIMessage, RemoveMessage } from "@langchain/core/messages";
import { END, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { asCommand, reaching } from "./routed.ts";
import { SessionState, type SessionStateValues, type SessionUpdate } from "./state.ts";

/** What the edge behind a node is shown, and the state that LangGraph has made when the next node runs. */
async function statesAfter(update: SessionUpdate): Promise<readonly [seen: unknown, made: unknown]> {
  const states: SessionStateValues[] = [];
  const graph = new StateGraph(SessionState)
    .addNode(
      "first",
      asCommand(
        reaching(
          async () => update,
          (after) => {
            states.push(after);
            return "second";
          },
        ),
      ),
      { ends: ["second"] },
    )
    .addNode("second", (state: SessionStateValues) => {
      states.push(state);
      return {};
    })
    .addEdge(START, "first")
    .addEdge("second", END)
    .compile();
  await graph.invoke({ messages: [new HumanMessage({ id: "m1", content: "hello" })] });
  const [seen, made] = states.map((state): unknown => JSON.parse(JSON.stringify(state)));
  return [seen, made];
}

it.each<[string, SessionUpdate]>([
  ["nothing", {}],
  ["a message behind the others", { messages: [new AIMessage({ id: "m2", content: "hi" })] }],
  ["the removal of a message", { messages: [new RemoveMessage({ id: "m1" })] }],
  ["a message that is there already", { messages: [new HumanMessage({ id: "m1", content: "hello again" })] }],
  ["other fields, one of them emptied", { window: [], turn: null, handoff: null }],
  ["a field without a value", { window: [], verdict: undefined }],
])("an edge sees the state that LangGraph makes of %s", async (_what, update) => {
  const [seen, made] = await statesAfter(update);
  expect(seen).toEqual(made);
});
