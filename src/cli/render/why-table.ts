/** Shows an explanation: its headline, then a reason a line. */
import { z } from "zod";
import { printable, printableLine } from "../printable.ts";
import type { Screen } from "../screen.ts";
import { wrapped } from "./indent.ts";
import { table } from "./table.ts";

/** `/why`, as far as it is shown. */
export const whyData = z.object({
  headline: z.string(),
  reasons: z.array(z.object({ about: z.string(), text: z.string() })),
});

/** Several reasons about the same are named once. */
export function renderWhy({ headline, reasons }: z.infer<typeof whyData>, screen: Screen): string {
  const rows = reasons.map(({ about, text }, index) => [
    reasons[index - 1]?.about === about ? "" : screen.paint.dim(printableLine(about)),
    printableLine(text),
  ]);
  const said = wrapped(printable(headline), screen);
  return rows.length === 0 ? said : `${said}\n\n${table({ rows }, screen)}`;
}
