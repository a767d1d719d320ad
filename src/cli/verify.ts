/** `lily verify`: whether everything stored is as it was committed. */
import { homeFolder } from "#src/app/home-folder.ts";
import { verifyOwner, type VerifyReport } from "#src/sessions/verify.ts";
import { done, refused, type Envelope } from "#src/kernel/envelope.ts";
import { counted, joined } from "#src/kernel/markdown.ts";
import type { CliContext } from "./context.ts";
import { printableKey, printableLine } from "./printable.ts";
import { table } from "./render/table.ts";
import { screenOf, type Screen } from "./screen.ts";
import { tell } from "./tell.ts";
import { assertHome } from "./upkeep-home.ts";
import { withEngine } from "./with-engine.ts";

/** Verifies one key of the configured owner, or everything of everybody. Returns the exit code. */
export async function verify(context: CliContext): Promise<number> {
  // Opening would make the folder, and a mistyped one would then count as verified.
  assertHome(homeFolder(context.env, context.cwd));
  return withEngine(context, async ({ owner, repository, verifyAll }) => {
    const { key } = context;
    const report = await (key === undefined ? verifyAll() : verifyOwner(repository, owner, key));
    const screen = screenOf(context.stdout, context.env);
    return tell(context, verifiedEnvelope(report), report.ok ? [] : [renderProblems(report, screen)]);
  });
}

/** What was found, as people and programs are told of it. */
export function verifiedEnvelope(report: VerifyReport): Envelope {
  const what = `${counted(report.sessions, "session")} with ${counted(report.turns, "turn")}`;
  const data = { ...report };
  if (report.ok) {
    const message = `${what} verified: everything is as it was committed${erasedText(report)}.`;
    return done("verified", message, { data });
  }
  return refused("verify_failed", `${counted(report.problems.length, "problem")} in ${what}`, {
    data,
    next: "Restore the file from a backup if it should be as it was (lily restore); lily doctor says what still works.",
  });
}

/** What was erased on request is no fault, and is told all the same. */
function erasedText({ erased: { titles, turns } }: VerifyReport): string {
  if (turns + titles === 0) return "";
  const parts = [turns > 0 ? counted(turns, "turn") : "", titles > 0 ? counted(titles, "title") : ""];
  return `; ${joined(parts, " and ")} ${turns + titles === 1 ? "was" : "were"} erased on request`;
}

function renderProblems({ problems }: VerifyReport, screen: Screen): string {
  const rows = problems.map(({ sessionKey, sessionId, ordinal, turn, problem }) => [
    // Of what belongs to no chain, the place says which key it was.
    printableKey(sessionKey === "" ? sessionId : sessionKey),
    String(ordinal),
    turn === null ? "" : String(turn),
    printableLine(problem),
  ]);
  return table({ head: ["key", "session", "turn", "problem"], rows }, screen);
}
