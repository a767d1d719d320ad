/** Shapes of what envelopes carry as data, as far as they are shown; what does not fit is shown as its message. */
import { z } from "zod";

/** `/help`. */
export const helpData = z.object({
  commands: z.array(z.object({ usage: z.string(), summary: z.string() })),
});

/** `/sessions`. */
export const sessionsData = z.object({
  sessions: z.array(
    z.object({
      ordinal: z.number(),
      latest: z.boolean(),
      title: z.string().nullable(),
      turns: z.number(),
      opened: z.string(),
      openedBecause: z.string(),
    }),
  ),
});

/** `/status`. */
export const statusData = z.object({
  sessionId: z.string(),
  sessionKey: z.string(),
  title: z.string().nullable(),
  task: z.string().nullish(),
  model: z.string(),
  modelChosen: z.boolean(),
  agent: z.string(),
  created: z.string().nullable(),
  lastActivity: z.string().nullable(),
  expires: z.string().nullable(),
  openedBecause: z.string(),
  lastDecision: z.object({ action: z.string(), text: z.string() }).nullable(),
  mode: z.string(),
  controlModel: z.string(),
  topicRollover: z.boolean(),
  topicUnknown: z.number(),
  timeZone: z.string(),
  storage: z.string(),
});

/** `/history`. */
export const historyData = z.object({
  turns: z.array(
    z.object({
      at: z.string(),
      status: z.string(),
      erasedAt: z.string().optional(),
      messages: z.array(z.object({ role: z.string(), content: z.string() })),
    }),
  ),
});

/** `/recall`. */
export const recallData = z.object({
  found: z.array(
    z.object({
      ordinal: z.number(),
      turn: z.number(),
      at: z.string(),
      score: z.number(),
      user: z.string(),
      assistant: z.string(),
    }),
  ),
});
