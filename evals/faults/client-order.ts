/** What a client of a crowd is told to do, and what its messages are. */
import { join } from "node:path";
import { z } from "zod";

/** What a client is started with. */
export const clientOrderSchema = z.strictObject({
  folder: z.string(),
  client: z.int(),
  key: z.string(),
  messages: z.int(),
  seed: z.int(),
  /** Kills itself at the n-th point. */
  killAt: z.int().optional(),
  /** The clock jumps before each message, that of the leases too. */
  jumps: z.boolean(),
});

/** What a client is started with. */
export type ClientOrder = z.infer<typeof clientOrderSchema>;

/** Each message that was answered, by number, a line. */
export const acknowledgementsOf = (folder: string, client: number): string =>
  join(folder, `client-${client}.log`);

/** The text of each message that was told as failed, a line for each time. */
export const failuresOf = (folder: string): string => join(folder, "failed.log");

/** The delivery id of a message. */
export const deliveryOf = (client: number, number: number): string => `c${client}-${number}`;

/** The text of a message: most are chat; some end the session, some need tools. */
export function textOf(client: number, number: number): string {
  const text = `client ${client} says ${number}`;
  if (number % 11 === 5) return `/new ${text}`;
  return number % 7 === 3 ? `tools ${text}` : text;
}
