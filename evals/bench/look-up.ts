/** The one tool of the benchmarks; it takes no time. */
import { tool } from "@langchain/core/tools";
import { z } from "zod";

/** Its name. */
export const LOOK_UP = "look_up";

/** The tool. */
export const lookUp = tool(async ({ query }: { query: string }) => `nothing is known of ${query}`, {
  name: LOOK_UP,
  description: "Looks something up.",
  schema: z.object({ query: z.string() }),
});
