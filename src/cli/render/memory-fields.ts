/** Shapes of what envelopes of memory carry as data, as far as they are shown. */
import { z } from "zod";

/** Commands that list facts. */
export const recordsData = z.object({
  records: z.array(
    z.object({
      short: z.string(),
      text: z.string(),
      domain: z.string(),
      state: z.string(),
      saidBy: z.string(),
      remembered: z.string().nullable(),
      expires: z.string().nullable(),
      task: z.string().nullable(),
    }),
  ),
});

/** `/memory`. */
export const memoryData = z.object({
  counts: z.record(z.string(), z.number()),
  actions: z.array(z.object({ usage: z.string(), summary: z.string() })),
});

/** `/memory short show`. */
export const shortMemoryData = z.object({
  threadId: z.string(),
  turns: z.number(),
  contextFrom: z.number(),
  lastActivity: z.string().nullable(),
  solver: z.string(),
  storage: z.string(),
});

/** `/memory short checkpoints`. */
export const checkpointsData = z.object({
  checkpoints: z.array(
    z.object({
      id: z.string(),
      at: z.string(),
      step: z.number(),
      next: z.array(z.string()),
      turns: z.number(),
      messages: z.number(),
    }),
  ),
});
