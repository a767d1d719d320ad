/** `npm run eval:long-run`: a conversation of 300 turns in a context of 16,000 tokens. */
import { longRun, longRunReport, longRunFaults } from "./run.ts";

const reports = [];
for (const summaries of ["built-in", "model"] as const) {
  const result = await longRun({ turns: 300, contextTokens: 16_000, resultCharacters: 200_000, summaries });
  console.log(longRunReport(result));
  reports.push(...longRunFaults(result));
}
for (const fault of reports) console.error(fault);
process.exitCode = reports.length === 0 ? 0 : 1;
