/** Completes the names of slash commands. */

/** Hits for `line` and the part of it that they replace, as `node:readline` wants them. */
export function completeCommand(line: string, names: readonly string[]): [string[], string] {
  if (!/^\/[\w-]*$/u.test(line)) return [[], line];
  const typed = line.slice(1).toLowerCase();
  return [names.filter((name) => name.startsWith(typed)).map((name) => `/${name} `), line];
}
