/** `lily backup`: a whole copy of the home folder, made while others go on. */
import { join, resolve } from "node:path";
import { systemClock } from "#src/app/system.ts";
import { done } from "#src/kernel/envelope.ts";
import { backUp } from "#src/upkeep/back-up.ts";
import { counted } from "#src/upkeep/check.ts";
import { BACKUPS } from "#src/upkeep/home-files.ts";
import { stampOf } from "#src/upkeep/home.ts";
import { sizeText } from "#src/upkeep/size-text.ts";
import type { CliContext, CliOptions } from "./context.ts";
import { progressOn, tell } from "./tell.ts";
import { sqliteHome } from "./upkeep-home.ts";
import { reportError } from "./with-engine.ts";

/** Makes a backup in `folder`, by default one named by the time under `backups`. Returns the exit code. */
export async function backup(
  context: CliContext,
  options: CliOptions,
  { folder, program }: { readonly folder: string | undefined; readonly program: string },
): Promise<number> {
  try {
    const home = sqliteHome(context);
    const clock = systemClock();
    const target =
      folder === undefined ? join(home.folder, BACKUPS, stampOf(clock.now())) : resolve(context.cwd, folder);
    const onProgress = progressOn(context, options);
    const { manifest, bytes } = await backUp({ home, folder: target, program, clock, onProgress });
    const message = `Backed up ${counted(manifest.files.length, "file")}, ${sizeText(bytes)}, to ${target}.`;
    const envelope = done("backed_up", message, {
      next: `lily restore ${target} brings it back. Keep it on another disk too.`,
      data: { folder: target, bytes, manifest },
    });
    return tell(context, options, { envelope });
  } catch (error) {
    return reportError(error, context, options);
  }
}
