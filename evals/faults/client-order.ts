/** What a client of the kill loop is told to do, what its messages are, and what it writes down. */
import { join } from "node:path";
import { z } from "zod";

/** What a client is started with. */
export const clientOrderSchema = z.strictObject({ folder: z.string(), client: z.int(), key: z.string() });

/** What a client is started with. */
export type ClientOrder = z.infer<typeof clientOrderSchema>;

/** Files in the folder of a loop, a line for each time. */
export const LOGS = {
  /** The number of each message of a client that was answered. */
  acknowledged: (folder: string, client: number) => join(folder, `client-${client}.log`),
  /** The text of each message that was told as failed. */
  failed: (folder: string) => join(folder, "failed.log"),
  /** The text of each message whose tool a person is about to approve. */
  approved: (folder: string) => join(folder, "approved.log"),
} as const;

/** The delivery id of a message. */
export const deliveryOf = (client: number, number: number): string => `c${client}-${number}`;

/** The text of a message: most are chat; some end the session, some need tools, some a person's approval. */
export function textOf(client: number, number: number): string {
  const text = `client ${client} says ${number}`;
  if (number % 11 === 5) return `/new ${text}`;
  if (number % 4 === 2) return `ask for ${text}`;
  return number % 7 === 3 ? `tools ${text}` : text;
}

/** The name of the n-th key, from 0. */
export const keyOf = (key: number): string => `crowd:${key}`;
