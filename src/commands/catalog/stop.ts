/** `/stop`: ends the answer that is being written; what there is of it is kept. */
import { done } from "#src/kernel/envelope.ts";
import type { PlainCommand } from "../command.ts";

/**
 * `runTurn` carries it out, beside the turn that runs. On a thread of a LangGraph server a run of its own comes after
 * the one it is meant for, so there it finds nothing; such clients cancel the run.
 */
export const stopCommand: PlainCommand = {
  kind: "plain",
  name: "stop",
  summary: "Stop the answer that is being written; what there is of it is kept",
  usage: "/stop",
  effects: ["reads"],
  async run() {
    return {
      envelope: done("nothing_running", "Nothing is being answered right now.", { data: { stopped: false } }),
    };
  },
};
