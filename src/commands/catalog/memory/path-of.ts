/** Takes the path of a file out of what was written behind a command. */

/** The path; paths with blanks are often written between quotes. */
export function pathOf(written: string): string {
  return /^(["'])(.+)\1$/su.exec(written.trim())?.[2] ?? written.trim();
}
