/** A second program on the files of a first one, in the same test. */
import { join } from "node:path";
import { openSqliteBackend } from "#src/storage/sqlite/sqlite-backend.ts";
import type { Harness, HarnessOptions } from "./harness.ts";

/** For `wrapStorage`: storage of its own on the files of `one`, in place of the files of its own folder. */
export function onFilesOf({
  folder,
  clock,
}: Pick<Harness, "folder" | "clock">): NonNullable<HarnessOptions["wrapStorage"]> {
  return (unused) => {
    const storage = openSqliteBackend({
      checkpointPath: join(folder, "checkpoints", "checkpointer.sqlite"),
      storePath: join(folder, "memory", "store.sqlite"),
      clock,
    });
    return { ...storage, close: () => storage.close().then(() => unused.close()) };
  };
}
