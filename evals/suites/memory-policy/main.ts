/** `npm run eval:memory`: how well the policy gate tells what may be remembered, on labelled texts. */
import { runPolicyEval } from "./run.ts";

process.exitCode = await runPolicyEval(process.argv.slice(2), console.log);
