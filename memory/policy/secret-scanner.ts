/** Finds keys and tokens of known services by their shapes: the port, and the scanner on secretlint. */

/** Finds secrets by their shape; where they stand is given by code unit. Pure but for loading its rules; rejects when it cannot work, and then nothing is written. */
export type SecretScanner = (
  text: string,
) => Promise<readonly { readonly start: number; readonly end: number }[]>;

/** A scanner; its rules are loaded once. */
export function createSecretlintScanner(): SecretScanner {
  let loaded: Promise<SecretScanner> | undefined;
  return async (text) => (await (loaded ??= load()))(text);
}

async function load(): Promise<SecretScanner> {
  const [{ lintSource }, preset, { secretLintProfiler }] = await Promise.all([
    import("@secretlint/core"),
    import("@secretlint/secretlint-rule-preset-recommend"),
    import("@secretlint/profiler"),
  ]);
  // It measures each rule of each scan, keeps all of it for ever, and searches that anew each time.
  secretLintProfiler.mark = () => undefined;
  const rule = { id: "@secretlint/secretlint-rule-preset-recommend", rule: preset.creator };
  const options = { config: { rules: [rule] }, noPhysicFilePath: true };
  return async (text) => {
    const source = { filePath: "memory.txt", content: text, contentType: "text" } as const;
    const { messages } = await lintSource({ source, options });
    return messages.map(({ range: [start, end] }) => ({ start, end }));
  };
}
