/** Finds keys and tokens of known services by their shapes: the port, and the scanner on secretlint. */

/** A secret in a text, by code unit. */
export interface SecretFinding {
  /** The scanner's own name of what was found, e.g. `GITHUB_TOKEN`. Never the value. */
  readonly kind: string;
  readonly start: number;
  readonly end: number;
}

/** Finds secrets by their shape. Pure but for loading its rules; rejects when it cannot work, and then nothing is written. */
export type SecretScanner = (text: string) => Promise<readonly SecretFinding[]>;

type Scan = (text: string) => Promise<SecretFinding[]>;

/** A scanner; its rules are loaded once. */
export function createSecretlintScanner(): SecretScanner {
  let loaded: Promise<Scan> | undefined;
  return async (text) => (await (loaded ??= load()))(text);
}

async function load(): Promise<Scan> {
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
    return messages.map(({ messageId, range: [start, end] }) => ({ kind: messageId, start, end }));
  };
}
