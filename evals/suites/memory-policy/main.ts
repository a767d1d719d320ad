/** `npm run eval:memory [-- --json]`: how well the policy gate tells what may be remembered, on labelled and on held-out texts. */
import { resolve } from "node:path";
import { runPolicyEval } from "./run.ts";

const dataFolder = resolve(process.env["LILY_DATA"] ?? "../shared/data");
process.exitCode = await runPolicyEval(process.argv.slice(2), console.log, { dataFolder });
