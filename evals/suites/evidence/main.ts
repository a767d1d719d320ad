/** `npm run eval:evidence`: how well passages of documents are found. */
import { runEvidenceEval } from "./measure.ts";

process.exitCode = await runEvidenceEval(process.argv.slice(2), console.log);
