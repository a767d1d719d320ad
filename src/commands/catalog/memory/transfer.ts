/** `/memory export` and `/memory import`: all facts of an owner as one file, for the person at this machine. */
import { done, envelopeOf, refused, type Envelope } from "#src/kernel/envelope.ts";
import { isLilyError, LilyError } from "#src/kernel/errors.ts";
import { toInstant } from "#src/kernel/clock.ts";
import type { ImportReport } from "#memory/book/types.ts";
import type { CommandFiles } from "../../command.ts";
import { usageEnvelope } from "../../flags.ts";
import { usageOf, type ActionContext, type MemoryAction } from "./memory-action.ts";
import { factCount } from "./record-row.ts";

/** `/memory export [path]`. */
export const exportAction: MemoryAction = {
  words: "export",
  usage: "[path]",
  summary: "write all of it to a new file; without a path beside what Lily keeps",
  reads: true,
  async run(args, context) {
    const { files, memory, nowMs } = context;
    if (files === undefined) return { envelope: noFiles() };
    const envelope = await told(async () => {
      const exported = await memory.book.exportAll(memory.who);
      const text = `${JSON.stringify(exported, null, 2)}\n`;
      const written =
        args === ""
          ? await files.write(`lily-memory-${toInstant(nowMs).slice(0, 10)}.json`, text, "kept")
          : await files.write(args, text);
      return done("memory_exported", `${factCount(exported.records.length)} written to ${written}.`, {
        next: "/memory import <path> reads it, here or elsewhere; the file is not encrypted.",
        data: { path: written, records: exported.records.length },
      });
    });
    return { envelope };
  },
};

/** `/memory import <path>`. */
export const importAction: MemoryAction = {
  words: "import",
  usage: "<path>",
  summary: "read facts from such a file; what is known or was forgotten is left out",
  reads: false,
  async run(args, context) {
    const { files } = context;
    if (files === undefined) return { envelope: noFiles() };
    if (args === "") return { envelope: usageEnvelope("which file?", usageOf(this)) };
    const envelope = await told(() => importFrom(args, files, context));
    return envelope.ok ? { envelope, isCommitted: true } : { envelope };
  },
};

async function importFrom(path: string, files: CommandFiles, { memory }: ActionContext): Promise<Envelope> {
  const report = await memory.book.importAll(memory.who, parsed(await files.read(path), path));
  const denied = report.denied.map(({ index, denial }) => ({ index, rule: denial.rule }));
  return done("memory_imported", reportText(report), {
    ...(report.quarantined === 0 ? {} : { next: "/memory review shows what was put aside." }),
    data: { path, ...report, denied },
  });
}

function parsed(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // What the parser says of the place would quote the file.
    throw new LilyError("memory_input_invalid", `${path} is no JSON`, {
      next: "Give a file that /memory export wrote. Nothing was changed.",
    });
  }
}

function reportText(report: ImportReport): string {
  const counts: readonly (readonly [number, string])[] = [
    [report.added, "new"],
    [report.known, "known already"],
    [report.quarantined, "put aside for a review"],
    [report.forgotten, "forgotten before and left out"],
    [report.denied.length, "refused by the policy"],
    [report.invalid.length, "not readable"],
  ];
  const said = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  return said.length === 0 ? "The file holds nothing." : `${said.join(", ")}.`;
}

/** The envelope, or that of an error which a person can do something about. */
async function told(action: () => Promise<Envelope>): Promise<Envelope> {
  try {
    return await action();
  } catch (error) {
    if (isLilyError(error)) return envelopeOf(error);
    throw error;
  }
}

function noFiles(): Envelope {
  return refused("files_unavailable", "files are read and written in the terminal alone", {
    next: "Run lily on the machine where the file is.",
  });
}
