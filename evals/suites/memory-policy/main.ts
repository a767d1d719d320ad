/** `npm run eval:memory [-- --json]`: how well the policy gate tells what may be remembered, on labelled texts, and how memory does on public data. */
import { resolve } from "node:path";
import { runPublicEval } from "#evals/suites/memory/public/run.ts";
import { runPolicyEval } from "./run.ts";

const dataFolder = resolve(process.env["LILY_DATA"] ?? "../shared/data");
const args = process.argv.slice(2);
const policy = await runPolicyEval(args, console.log, { dataFolder });
// JSON is one document, of the gate alone.
process.exitCode = args.includes("--json")
  ? policy
  : Math.max(policy, await runPublicEval(args, console.log));
