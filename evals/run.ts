/** `npm run eval`: runs the suites and ends with 1 when a case failed. */
import { runEvalCommand } from "./harness/command.ts";
import { openInProcessRunner } from "./harness/in-process-runner.ts";
import { openRemoteRunner } from "./harness/remote-runner.ts";
import { SUITES } from "./suites/suites.ts";

process.exitCode = await runEvalCommand(process.argv.slice(2), {
  suites: SUITES,
  runners: { "in-process": openInProcessRunner, remote: openRemoteRunner },
  out: (text) => console.log(text),
  err: (text) => console.error(text),
  columns: process.stdout.columns,
});
