/** `lily erase --owner <name>`: erases everything of one person, and shows the receipt. */
import { createInterface } from "node:readline/promises";
import { openApp, type App } from "#src/app/open-app.ts";
import { homeFolder } from "#src/app/home-folder.ts";
import { eraseOwner } from "#src/erasure/erase-owner.ts";
import type { ErasureDeps } from "#src/erasure/erasure-deps.ts";
import { previewOwner } from "#src/erasure/preview-owner.ts";
import { receiptEnvelope } from "#src/erasure/receipt-envelope.ts";
import { done, refused, type Envelope } from "#src/kernel/envelope.ts";
import { parseKeyList } from "#src/server/auth/key-entries.ts";
import { keyFileOf, readKeyFile } from "#src/server/auth/key-file.ts";
import { parseOwner } from "#src/sessions/session-key.ts";
import { ERASE_QUESTION, isYes } from "./confirm-erasing.ts";
import { isInteractive, type CliContext, type CliOptions } from "./context.ts";
import { createInputHistory, historyFile } from "./input/history-file.ts";
import { typedLines } from "./input/typed-lines.ts";
import { printableLine } from "./printable.ts";
import { tell } from "./tell.ts";
import { assertHome } from "./upkeep-home.ts";
import { reportError } from "./with-engine.ts";

/** What is asked for. */
export interface EraseRequest {
  readonly owner: string;
  readonly dryRun: boolean;
  readonly yes: boolean;
}

/** Erases, or says what would go. Returns the exit code. */
export async function erase(
  context: CliContext,
  options: CliOptions,
  request: EraseRequest,
): Promise<number> {
  let app: App | undefined;
  try {
    const owner = parseOwner(request.owner);
    // Opening would make the folder, and a mistyped one would then count as erased.
    assertHome(homeFolder(context.env, context.cwd));
    app = await openApp(context.env, context.cwd);
    return await eraseIn(context, options, { ...request, owner, deps: depsOf(context, app) });
  } catch (error) {
    return await reportError(error, context, options);
  } finally {
    await app?.storage.close();
  }
}

function depsOf({ env }: CliContext, { home, config, deps, storage }: App): ErasureDeps {
  const keys = [...parseKeyList(env["LILY_API_KEYS"] ?? ""), ...readKeyFile(keyFileOf(env, home).path)];
  return {
    storage,
    clock: deps.clock,
    ids: deps.ids,
    typed: typedLines(config.owner, createInputHistory(historyFile(home))),
    apiKeys: (owner) => keys.filter((entry) => entry.owner === owner).length,
  };
}

async function eraseIn(
  context: CliContext,
  options: CliOptions,
  { owner, dryRun, yes, deps }: EraseRequest & { readonly deps: ErasureDeps },
): Promise<number> {
  const counts = await previewOwner(deps, owner);
  const preview = previewEnvelope(owner, counts, dryRun);
  if (dryRun) return tell(context, options, { envelope: preview });
  if (!yes) {
    const exitCode = tell(context, options, { envelope: preview });
    if (!isInteractive(context) || options.json || !(await askForYes(context))) return exitCode;
  }
  return tell(context, options, { envelope: receiptEnvelope(await eraseOwner(deps, owner)) });
}

function previewEnvelope(
  owner: string,
  counts: Awaited<ReturnType<typeof previewOwner>>,
  dryRun: boolean,
): Envelope {
  const name = JSON.stringify(printableLine(owner));
  const data = { counts };
  const what = counts.length === 0 ? `Nothing is kept of ${name}` : `Everything of ${name} would be erased`;
  if (dryRun) return done("owner_erase_preview", `${what}. Nothing was changed.`, { data });
  return refused("confirmation_needed", `${what}; it cannot be taken back`, {
    next: "The same with --yes erases it. Nothing was changed.",
    data,
  });
}

async function askForYes({ stdin, stdout }: CliContext): Promise<boolean> {
  const asking = createInterface({ input: stdin, output: stdout });
  try {
    return isYes(await asking.question(`${ERASE_QUESTION}\n› `));
  } finally {
    asking.close();
  }
}
