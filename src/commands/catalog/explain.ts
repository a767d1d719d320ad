/** `/explain [turn | last | failed]`: the trace of a turn, drawn, as data, or as a diagram or page to keep. */
import { done, type Envelope } from "#src/kernel/envelope.ts";
import { fenced, joined } from "#src/kernel/markdown.ts";
import { namesIn, traceOf } from "#src/explain/derive-trace.ts";
import { failureHeadline, turnHeadline } from "#src/explain/explain-turn.ts";
import { traceHtml, traceMermaid } from "#src/explain/trace-export.ts";
import { totalsText, traceTables } from "#src/explain/trace-text.ts";
import type { Trace } from "#src/explain/trace.ts";
import { findWhichTurn, type WhichTurn } from "#src/explain/which-turn.ts";
import type { CommandContext, PlainCommand } from "../command.ts";
import { parseFlags, refuseUsage } from "../parse-command.ts";
import { whyTurn } from "./why.ts";

const USAGE = "/explain [turn number, or failed [n]] [--json] [--export mermaid|html]";

export const explainCommand: PlainCommand = {
  name: "explain",
  summary:
    "Draw what happened in a turn: steps, times, tries, tokens, cost, and what its prompts were made of",
  usage: USAGE,
  effects: ["reads", "files"],
  // It writes a new file at most, which no turn waits for.
  onlyReads: () => true,
  async run(args, context) {
    const { text, values, switches } = parseFlags(args, {
      values: ["export"],
      switches: ["json"],
      usage: USAGE,
    });
    const format = values.export?.toLowerCase();
    if (format !== undefined && format !== "mermaid" && format !== "html")
      return refuseUsage("that is neither mermaid nor html", USAGE);
    const which = await findWhichTurn(context.repository, context.session, text);
    if (which === undefined) return refuseUsage("that is no turn", USAGE);
    // Where there is nothing to trace, there is nothing else to say than /why does.
    if (which.kind !== "turn" && which.kind !== "failure") return whyTurn(context, which);
    const { chain, nowMs, policy, priceOf, session } = context;
    const telling = { nowMs, timeZone: policy.timeZone, nameOf: namesIn(chain, session.sessionId) };
    const trace = traceOf(which, { ...telling, priceOf });
    const headline =
      which.kind === "turn" ? turnHeadline(which.turn, telling) : failureHeadline(which.failure, telling);
    if (format !== undefined) return exported(context, { headline, trace }, format);
    if (!switches.has("json")) return drawn({ headline, trace }, which);
    const body = fenced("json", JSON.stringify(trace, null, 2));
    return done("turn_traced", headline, { body, data: { headline, trace } });
  },
};

interface Shown {
  readonly headline: string;
  readonly trace: Trace;
}

function drawn({ headline, trace }: Shown, which: WhichTurn): Envelope {
  const totals = totalsText(trace);
  const more =
    which.kind === "failure" && which.of > which.place
      ? ` /explain failed ${which.place + 1} shows the one before it that failed.`
      : "";
  return done("turn_traced", `${headline} ${totals}.`, {
    lead: headline,
    body: joined([traceTables(trace), totals], "\n\n"),
    next: `/why says it in words; --json gives it as data, --export html as a page.${more}`,
    data: { headline, trace },
  });
}

/** A file beside what Lily keeps for the person at this machine; for all others the reply holds it. */
async function exported(
  { files }: CommandContext,
  { headline, trace }: Shown,
  format: "mermaid" | "html",
): Promise<Envelope> {
  const text = format === "html" ? traceHtml(headline, trace) : traceMermaid(trace);
  const name = `lily-turn-${trace.turn ?? "failed"}.${format === "html" ? "html" : "mmd"}`;
  if (files === undefined || format === "mermaid")
    return done("trace_exported", headline, { body: fenced(format, text), data: { format, text } });
  const path = await files.write(name, text, "kept");
  return done("trace_exported", `${headline} Its page was written to ${path}.`, {
    next: "Open it with a browser; it quotes what you said, and is not encrypted.",
    data: { format, path, text },
  });
}
