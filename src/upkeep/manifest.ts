/** The manifest of a backup: which files it holds, and by which hash each is known to be whole. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { errorMessage, LilyError } from "#src/kernel/errors.ts";

/** Name of the manifest in a backup's folder; it is written last, so a folder without one is no whole backup. */
export const MANIFEST = "manifest.json";

/** Folder in a backup that holds the files of the home folder. */
export const HOME_FILES = "home";

/** Of manifests that are written. */
export const VERSION = 1;

const manifestFileSchema = z
  .strictObject({
    /** Relative to the backup, with "/" between folders; it stays inside. */
    path: z.string().refine(isInside, "it leads out of the backup, or is written in a way that could"),
    /** `file` belongs to the home folder; the databases go where the configuration says. */
    role: z.enum(["checkpoints", "store", "file"]),
    bytes: z.int().min(0),
    sha256: z.string().regex(/^[0-9a-f]{64}$/u),
    executable: z.boolean().optional(),
  })
  .refine(
    ({ role, path }) => (role === "file") === path.startsWith(`${HOME_FILES}/`),
    `a file of the home folder is not under ${HOME_FILES}/`,
  );

function isInside(path: string): boolean {
  return !/[\\\0]/u.test(path) && path.split("/").every((part) => !["", ".", ".."].includes(part));
}

/** A manifest as far as every version of it can be read. */
const anyManifestSchema = z.looseObject({ kind: z.literal("lily-backup"), version: z.number() });

const manifestSchema = z.strictObject({
  ...anyManifestSchema.shape,
  version: z.literal(VERSION),
  /** Version of the program that made it. */
  program: z.string(),
  madeAt: z.string(),
  files: z
    .array(manifestFileSchema)
    .refine((files) => new Set(files.map(({ path }) => path)).size === files.length, "a path is named twice"),
});

/** What a backup holds. */
export type Manifest = z.infer<typeof manifestSchema>;

/** One file of a backup. */
export type ManifestFile = z.infer<typeof manifestFileSchema>;

/** Whether `folder` is a whole backup, of whatever version. */
export function isBackup(folder: string): boolean {
  try {
    return anyManifestSchema.safeParse(JSON.parse(readFileSync(join(folder, MANIFEST), "utf8"))).success;
  } catch {
    // Most folders have no manifest.
    return false;
  }
}

/**
 * Reads the manifest of the backup in `folder`.
 *
 * @throws {LilyError} `backup_invalid` when there is none or it is damaged, `storage_newer` when a newer program made it
 */
export function readManifest(folder: string): Manifest {
  let found: unknown;
  try {
    found = JSON.parse(readFileSync(join(folder, MANIFEST), "utf8"));
  } catch (error) {
    throw invalid(
      `${folder} is no whole backup, because it has no ${MANIFEST} that can be read (${errorMessage(error)})`,
    );
  }
  const version = anyManifestSchema.safeParse(found).data?.version ?? VERSION;
  if (version > VERSION)
    throw new LilyError(
      "storage_newer",
      `the backup ${folder} was made by a newer program (version ${version}; this program knows ${VERSION})`,
      { next: "Nothing was changed; update the program." },
    );
  const parsed = manifestSchema.safeParse(found);
  if (parsed.success) return parsed.data;
  throw invalid(`${join(folder, MANIFEST)} is no manifest of a backup: ${z.prettifyError(parsed.error)}`);
}

/** The refusal of a backup. */
export function invalid(message: string): LilyError {
  return new LilyError("backup_invalid", message, { next: "Nothing was changed; choose another backup." });
}
