/** Finds the session that a thread is, and its chain, without changing anything. */
import { LilyError } from "#src/kernel/errors.ts";
import { defined } from "#src/kernel/json.ts";
import { toInstant } from "#src/kernel/clock.ts";
import { type Chain, entryOf, type FirstSession, latestEntry, openChain } from "#src/sessions/chain.ts";
import type { ChainEntry } from "#src/sessions/chain-entry.ts";
import { wholeTurns } from "#src/sessions/redaction.ts";
import type { Blob, BlobReader, KeyRef, SessionRepository } from "#src/sessions/repository.ts";
import type { Attachment } from "#src/sessions/message.ts";
import { textHashOf } from "#src/sessions/seal.ts";
import type { Carried, SessionFields } from "#src/sessions/session-fields.ts";
import { inheritedNotes } from "#src/sessions/transcript.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import { withContents } from "#src/agents/snapshot.ts";
import { freezeSession, keepContents, thawSession } from "#src/agents/snapshot.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { labelThreads } from "#src/turns/thread-registrar.ts";
import { advance } from "./nodes/commit.ts";
import { modelOf, pluginFor } from "./policy-of.ts";
import type { RunContext } from "./run-context.ts";
import { toolsToFreeze } from "./tools.ts";

/** A thread with its chain. */
export interface LocatedSession {
  readonly chain: Chain;
  /** `undefined` when the thread is no session of the key, which another thread opened before. */
  readonly session: SessionFields | undefined;
  /** The key was never used; nothing of it is stored yet. */
  readonly isNew: boolean;
  /** Persona and skills of a new key, to be stored before its chain points to them. */
  readonly contents?: readonly Blob[];
}

/** The delivery that would open a key on first contact. */
export interface FirstDelivery {
  readonly deliveryId: string;
  readonly text: string;
  /** What is answered of the text, where that is not all of it. */
  readonly leftText?: string;
  readonly attachments?: readonly Attachment[];
}

/**
 * The session of the run's thread: as the state has it, as the index knows it, or as it will be on first contact.
 *
 * @throws {LilyError} `session_not_yours`, `session_key_mismatch`, `record_invalid`
 */
export async function locateSession(
  deps: SessionDeps,
  run: RunContext,
  known: SessionFields | null,
  delivery: FirstDelivery,
): Promise<LocatedSession> {
  const indexed = known ?? (await run.repository.findSession(run.threadId));
  if (indexed !== undefined) assertMine(run, indexed);
  const ref: KeyRef = indexed ?? { owner: run.owner, sessionKey: run.sessionKey ?? run.threadId };
  const chain = await run.repository.readChain(ref);
  if (chain === undefined) return firstContact(deps, run, { ref, known, delivery });
  const entry = entryOf(chain, run.threadId);
  if (known !== null) return { chain, session: known, isNew: false };
  return {
    chain,
    session: entry === undefined ? undefined : await newFields(deps, run, { chain, entry }),
    isNew: false,
  };
}

function assertMine(run: RunContext, session: KeyRef): void {
  if (session.owner !== run.owner) {
    throw new LilyError("session_not_yours", `there is no session ${run.threadId} of yours`, {
      next: "/sessions lists your sessions. Nothing was stored.",
    });
  }
  if (run.sessionKey !== undefined && run.sessionKey !== session.sessionKey) {
    throw new LilyError(
      "session_key_mismatch",
      `session ${run.threadId} belongs to ${JSON.stringify(session.sessionKey)}, not to ${JSON.stringify(run.sessionKey)}`,
      { next: "Use the thread of that key, or leave the key out. Nothing was stored." },
    );
  }
}

async function firstContact(
  deps: SessionDeps,
  run: RunContext,
  found: { readonly ref: KeyRef; readonly known: SessionFields | null; readonly delivery: FirstDelivery },
): Promise<LocatedSession> {
  if (found.known !== null && found.known.turns > 0)
    throw new LilyError(
      "record_invalid",
      `the transcript of session ${run.threadId} is gone from the store`,
      { next: "Restore the store from a backup, or begin anew under another key." },
    );
  const { deliveryId, text, leftText, attachments } = found.delivery;
  const leftHash = leftText === undefined ? undefined : textHashOf(leftText, attachments);
  const textHash = textHashOf(text, attachments);
  const first = { ...found.ref, sessionId: run.threadId, deliveryId, textHash, ...defined({ leftHash }) };
  const { chain, contents } = await beginChain(deps, first);
  const session = await newFields(
    deps,
    { ...run, blobs: withContents(contents) },
    { chain, entry: latestEntry(chain) },
  );
  return { chain, session, isNew: true, contents };
}

/** The chain of a key as it begins now, with what is to be stored before it. `isStored`: it is to be. */
export async function beginChain(
  deps: SessionDeps,
  first: Omit<FirstSession, "at" | "snapshot">,
  { isStored = true }: { readonly isStored?: boolean } = {},
): Promise<{ readonly chain: Chain; readonly contents: readonly Blob[] }> {
  const ofOwner = first.owner === deps.localOwner;
  const agent = deps.agents.defaultAgent;
  // Servers are begun for a conversation alone.
  const tools = await toolsToFreeze(deps, { agent, model: null, isStored });
  const { hash, contents } = await freezeSession(deps.agentFiles, agent, { ofOwner, tools });
  const chain = openChain({ ...first, at: toInstant(deps.clock.now()), snapshot: hash });
  return { chain, contents };
}

/** First contact: the key gets its chain. A thread that lost the race to open it learns of the winner. */
export async function openKey(
  deps: SessionDeps,
  run: Pick<RunContext, "threadId" | "repository" | "blobs">,
  { chain: wanted, isNew, contents = [] }: Pick<LocatedSession, "chain" | "isNew" | "contents">,
): Promise<Chain> {
  if (!isNew) return wanted;
  await keepContents(run.blobs, wanted.owner, contents);
  await run.repository.indexSession(run.threadId, wanted);
  await run.repository.writeChain(wanted);
  const chain = (await run.repository.readChain(wanted)) ?? wanted;
  await labelThreads(deps.threads, chain);
  return chain;
}

/** The fields of a session as it begins, with what it was handed by the one before it. */
export async function newFields(
  deps: SessionDeps,
  { repository, blobs }: { readonly repository: SessionRepository; readonly blobs: BlobReader },
  { chain, entry }: { readonly chain: Chain; readonly entry: ChainEntry },
): Promise<SessionFields> {
  const handedOn: Partial<Carried> = entry.opened.carried ?? {};
  const { model, reasoning, verbosity, ...carried } = handedOn;
  const activeAgent = carried.activeAgent ?? deps.agents.defaultAgent;
  const temperature = deps.agents.temperature(activeAgent);
  const configured = deps.agents.defaultModel(activeAgent);
  const { ledger, units } = await inheritedNotes(repository, chain, entry.sessionId);
  return {
    sessionId: entry.sessionId,
    owner: chain.owner,
    sessionKey: chain.sessionKey,
    ownKey: chain.sessionKey === chain.sessions[0]?.sessionId,
    ...carried,
    activeAgent,
    ...(await thawSession(blobs, chain.owner, entry.opened.snapshot)),
    modelConfig: {
      model: model ?? (configured === "symbolic" ? null : configured),
      chosen: typeof model === "string",
      ...defined({ temperature, reasoning, verbosity }),
    },
    ...defined({ ledger, units: units && [...units] }),
    toldNoModel: carried.toldNoModel ?? false,
    createdAt: entry.opened.at,
    firstActivityAt: null,
    lastActivityAt: null,
    expiresAt: null,
    turns: 0,
    head: "",
  };
}

/** What answers in a session: its model, or what is configured by now, or a solver without a model. */
export function solverOf(deps: SessionDeps, session: SessionFields): string {
  return pluginFor(deps, session, "gs").plugin.solve === undefined ? modelOf(deps, session) : "symbolic";
}

/** A session brought up to its transcript, and the newest of the turns that it had missed. */
export interface CaughtUp {
  readonly session: SessionFields;
  readonly missed: readonly TurnRecord[];
  /** Turns that were committed and are gone from the store; the numbers go on behind them. */
  readonly lost?: { readonly from: number; readonly to: number };
}

/** What the next message is told of turns that are gone: they were answered, and no later turn hides that. */
export function lostTurnsText({ lost }: CaughtUp): string | null {
  if (lost === undefined) return null;
  const turns = lost.from === lost.to ? `Turn ${lost.to}` : `Turns ${lost.from} to ${lost.to}`;
  return `${turns} of this conversation, which had been answered, are not in the store any more. lily restore <folder> brings a backup back; this conversation goes on behind them.`;
}

/** Turns that come into `messages` when a session has to catch up. */
const KEEP_MISSED = 20;

/**
 * Brings the fields up to the transcript, which is ahead when a crash came between the commit and its checkpoint, or
 * when the thread's checkpoints are gone. Fields whose head is not that of their turn were changed by hand: they are made
 * anew.
 */
export async function catchUp(
  deps: SessionDeps,
  sources: Pick<RunContext, "repository"> & { readonly blobs: BlobReader },
  session: SessionFields,
): Promise<CaughtUp> {
  const { repository } = sources;
  const { turns: known } = session;
  const [next, newest] = await Promise.all([
    repository.readStoredTurn(session, known + 1),
    known === 0 ? undefined : repository.readStoredTurn(session, known),
  ]);
  const isOurs = newest === undefined ? known > 0 || session.head === "" : newest.head === session.head;
  if (next === undefined && newest !== undefined && isOurs) return { session, missed: [] };
  const turns = await repository.lastStoredTurn(session);
  if (turns < known) return { session, missed: [], lost: { from: turns + 1, to: known } };
  const from = isOurs ? session : await asItBegan(deps, sources, session);
  const read = await repository.readStoredTurns(session, { from: from.turns + 1, to: turns });
  const missed = read.filter(({ turn }) => turn > known);
  return {
    session: read.reduce((fields, record) => advance(deps, fields, record), from),
    missed: wholeTurns(missed.slice(-KEEP_MISSED)),
  };
}

async function asItBegan(
  deps: SessionDeps,
  sources: Parameters<typeof catchUp>[1],
  session: SessionFields,
): Promise<SessionFields> {
  const chain = await sources.repository.readChain(session);
  const entry = chain && entryOf(chain, session.sessionId);
  return chain === undefined || entry === undefined ? session : newFields(deps, sources, { chain, entry });
}
