/** The secret scanner on secretlint's recommended rules, loaded on first use because that takes half a second. */
import type { SecretFinding, SecretScanner } from "./secret-scanner.ts";

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
