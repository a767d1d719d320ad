/** Pages of a list: where one begins and how long it may be. */
import { z } from "zod";

const MAX_LIMIT = 200;
const DEFAULT_LIMIT = 50;

const count = (what: string) =>
  z
    .string()
    .regex(/^[1-9]\d{0,8}$/u, "use a whole number from 1")
    .transform(Number)
    .meta({ type: "integer", minimum: 1, description: what });

export const pageQuerySchema = z.strictObject({
  from: count("Number of the first item, from 1").optional(),
  to: count("Number of the last item").optional(),
  limit: count(`Most items of a page, at most ${MAX_LIMIT}; ${DEFAULT_LIMIT} by default`).optional(),
});

/** Which part of a list is asked for. */
export type PageQuery = z.infer<typeof pageQuerySchema>;

/** Fields of every page. */
export const pageFields = {
  /** Items of the whole list. */
  total: z.int(),
  /** `from` of the next page; `null` at the end. */
  next: z.int().nullable(),
};

/** A part of a list; empty when `to` is before `from`. */
export interface Page {
  readonly from: number;
  readonly to: number;
  /** `from` of the next page; `null` when this one reaches the end of what is asked for. */
  readonly next: number | null;
}

/** The page of a list of `total` items. It is cut to the limit, never refused for being long. */
export function planPage(query: PageQuery, total: number): Page {
  const from = query.from ?? 1;
  const last = Math.min(total, query.to ?? total);
  const to = Math.min(last, from + Math.min(query.limit ?? DEFAULT_LIMIT, MAX_LIMIT) - 1);
  return { from, to, next: to < last && from <= last ? to + 1 : null };
}
