/** A folder with persona files and skills for a harness, removed after each test. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach } from "vitest";
import { createAgentFiles } from "#src/agents/agent-files.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";

/** A folder that a test fills. */
export interface AgentHome {
  readonly adjust: (deps: SessionDeps) => SessionDeps;
  put(path: string, text: string | Uint8Array): void;
  remove(path: string): void;
}

/** Registers the clean-up and gives the function that makes a folder with such files. */
export function agentHomes(): (files?: Readonly<Record<string, string>>) => AgentHome {
  let folders: string[] = [];
  afterEach(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    folders = [];
  });
  return (files = {}) => {
    const home = mkdtempSync(join(tmpdir(), "lily-agents-"));
    folders.push(home);
    const made: AgentHome = {
      adjust: (deps) => ({
        ...deps,
        agentFiles: createAgentFiles({
          home,
          workspace: join(home, "work"),
          bundled: join(home, "bundled"),
          defaultAgent: deps.agents.defaultAgent,
        }),
      }),
      put(path, text) {
        mkdirSync(dirname(join(home, path)), { recursive: true });
        writeFileSync(join(home, path), text);
      },
      remove: (path) => rmSync(join(home, path), { recursive: true }),
    };
    for (const [path, text] of Object.entries(files)) made.put(path, text);
    return made;
  };
}

/** The text of a `SKILL.md`. */
export const skillText = (name: string, body: string, description = `Does ${name}.`): string =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}\n`;
