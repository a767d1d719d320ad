/**
 * `lily erase`: erases everything of one person (`--owner`) or of one conversation (`--key`), here or on a LangGraph server
 * (`--server`), and shows the receipt.
 */
import { createInterface } from "node:readline/promises";
import { loadConfig } from "#src/app/config.ts";
import { homeFolder } from "#src/app/home-folder.ts";
import { openApp } from "#src/app/open-app.ts";
import { systemClock, systemIds } from "#src/app/system.ts";
import { erase as eraseTarget, type Target } from "#src/erasure/erase.ts";
import type { ErasureDeps } from "#src/erasure/place.ts";
import { preview } from "#src/erasure/preview.ts";
import { receiptEnvelope } from "#src/erasure/receipt.ts";
import { assertIdle, connectServer, serverErasure } from "#src/erasure/server-erasure.ts";
import { done, refused, type Envelope } from "#src/kernel/envelope.ts";
import { LilyError, errorMessage, isLilyError } from "#src/kernel/errors.ts";
import { markdownTable } from "#src/kernel/markdown.ts";
import { parseKeyList } from "#src/server/auth/key-entries.ts";
import { keyFileOf, readKeyFile } from "#src/server/auth/key-file.ts";
import { parseOwner } from "#src/sessions/session-key.ts";
import { askedHere, isYes } from "./confirm-erasing.ts";
import { isInteractive, type CliContext } from "./context.ts";
import { typedLines } from "./input/history-file.ts";
import { printableLine } from "./printable.ts";
import { tell } from "./tell.ts";
import { assertHome } from "./upkeep-home.ts";

/** What is asked for. */
export interface EraseRequest {
  /** Whose data it is; with a `--key`, the configured owner by default. */
  readonly owner?: string | undefined;
  /** A LangGraph server, in place of this machine's home folder. */
  readonly server?: string | undefined;
  readonly dryRun: boolean;
  readonly yes: boolean;
}

/** Erases, or says what would go. Returns the exit code. */
export async function erase(context: CliContext, request: EraseRequest): Promise<number> {
  const { env, cwd, key } = context;
  if (request.owner === undefined && key === undefined)
    throw new LilyError("command_usage", "whose data is to be erased?", {
      next: "lily erase --owner <name> erases a person, lily erase --key <session key> one conversation.",
    });
  const owner = parseOwner(request.owner ?? loadConfig(env, cwd).config.owner);
  const wanted = { ...request, target: { owner, sessionKey: key } };
  if (request.server !== undefined) return eraseOnServer(context, wanted, request.server);
  // Opening would make the folder, and a mistyped one would then count as erased.
  assertHome(homeFolder(env, cwd));
  const { home, config, deps, storage } = await openApp(env, cwd);
  try {
    const keys = [...parseKeyList(env["LILY_API_KEYS"] ?? ""), ...readKeyFile(keyFileOf(env, home).path)];
    return await eraseIn(context, wanted, {
      storage,
      clock: deps.clock,
      ids: deps.ids,
      typed: typedLines(config.owner, home),
      apiKeys: (whose) => keys.filter((entry) => entry.owner === whose).length,
    });
  } finally {
    await storage.close();
  }
}

type Wanted = EraseRequest & { readonly target: Target };

async function eraseOnServer(context: CliContext, wanted: Wanted, url: string): Promise<number> {
  const client = connectServer({ url, header: context.env["LILY_SERVER_HEADER"] });
  const deps = serverErasure(client, { clock: systemClock(context.env), ids: systemIds });
  try {
    return await eraseIn(context, wanted, deps, () => assertIdle(client, wanted.target));
  } catch (error) {
    if (isLilyError(error)) throw error;
    throw new LilyError("erasure_unfinished", `the server at ${url} did not do it: ${errorMessage(error)}`, {
      next: "Set LILY_SERVER_HEADER to the header that an operator of the server sends (name: value), and erase the same again.",
      cause: error,
    });
  }
}

/** @param before refuses right before anything is changed */
async function eraseIn(
  context: CliContext,
  { target, dryRun, yes }: Wanted,
  deps: ErasureDeps,
  before?: () => Promise<void>,
): Promise<number> {
  const envelope = previewEnvelope(target, await preview(deps, target), dryRun);
  if (dryRun) return tell(context, envelope);
  if (!yes) {
    const asks = isInteractive(context);
    const exitCode = tell(context, asks ? askedHere(envelope) : envelope);
    if (!asks || !(await askForYes(context))) return exitCode;
  }
  await before?.();
  return tell(context, receiptEnvelope(await eraseTarget(deps, target)));
}

function previewEnvelope(
  { owner, sessionKey }: Target,
  counts: Awaited<ReturnType<typeof preview>>,
  dryRun: boolean,
): Envelope {
  const person = JSON.stringify(printableLine(owner));
  const name =
    sessionKey === undefined ? person : `${JSON.stringify(printableLine(sessionKey))} of ${person}`;
  const data = { counts };
  const body = markdownTable(
    ["place", "count"],
    counts.map(({ place, count }) => [place, String(count)]),
  );
  const what = counts.length === 0 ? `Nothing is kept of ${name}` : `Everything of ${name} would be erased`;
  if (dryRun) return done("owner_erase_preview", `${what}. Nothing was changed.`, { data, body });
  return refused("confirmation_needed", `${what}; it cannot be taken back`, {
    next: "The same with --yes erases it. Nothing was changed.",
    data,
    body,
  });
}

async function askForYes({ stdin, stdout }: CliContext): Promise<boolean> {
  const asking = createInterface({ input: stdin, output: stdout });
  try {
    return isYes(await asking.question("› "));
  } finally {
    asking.close();
  }
}
