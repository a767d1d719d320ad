/** Takes a burst to its replies: waits for quiet and for the key, answers it as one turn, tries again when storage is busy. */
import type { KeyRef } from "#src/sessions/repository.ts";
import type { Lease } from "#src/storage/backend.ts";
import type { ArrivalPolicy } from "./arrival-policy.ts";
import { joinTexts, type Burst, type Member, type Place } from "./burst.ts";
import { lockName } from "./lock-name.ts";
import { deliveriesOf, findStoredReply } from "./stored-reply.ts";
import { systemTimer, type Timer } from "./timer.ts";
import type { TurnDeps } from "./turn-deps.ts";
import type { TurnReply } from "./turn-reply.ts";
import { failedReply, runUnderLease } from "./under-lock.ts";

/** How often a burst is tried before its callers are told that the storage is busy. */
const TRIES = 4;

/** Before the second try; each wait is twice the one before it. */
const FIRST_RETRY_MS = 250;

/** A burst on its way. */
export interface Flushed {
  readonly burst: Burst;
  /** What goes first on the key. */
  readonly before: Place | undefined;
  readonly ref: KeyRef;
  readonly mode: ArrivalPolicy["mode"];
}

/** Answers every member of the burst. Never rejects. */
export async function flush(deps: TurnDeps, flushed: Flushed): Promise<void> {
  const { burst, before, ref, mode } = flushed;
  const timer = deps.timer ?? systemTimer;
  let lease: Lease | undefined;
  await burst.quiet.passed;
  if (mode === "queue") burst.close();
  // Behind it even when it has to try again for its lock.
  await before?.settled.passed;
  try {
    for (let attempt = 1; ; attempt += 1) {
      const failure = await failureOf(async () => {
        lease ??= await takeLock(deps, burst, ref);
        return answerAll(deps, { burst, lease, ref });
      });
      if (failure === undefined) return;
      if (!isBusy(failure) || attempt === TRIES) return tellAll(burst, failure);
      await pause(timer, FIRST_RETRY_MS * 2 ** (attempt - 1));
    }
  } finally {
    burst.close();
    burst.inLine.open();
    burst.settled.open();
    // Whoever sends again once it has its reply finds the key free. A lease that cannot be given back runs out.
    await lease?.release().catch(() => undefined);
    burst.deliver();
  }
}

async function failureOf(attempt: () => Promise<TurnReply | undefined>): Promise<TurnReply | undefined> {
  try {
    return await attempt();
  } catch (error) {
    return failedReply(error, "");
  }
}

/** Nothing was stored, and it may work in a moment. */
function isBusy({ turn, envelope }: TurnReply): boolean {
  return turn === null && envelope.code === "storage_busy";
}

function tellAll(burst: Burst, reply: TurnReply): void {
  for (const member of burst.members) burst.answer(member, reply);
}

async function takeLock(deps: TurnDeps, burst: Burst, ref: KeyRef): Promise<Lease> {
  const acquired = deps.locks.acquire(lockName(ref), {
    waitMs: deps.lockWaitMs,
    signal: burst.giveUp.signal,
    onWait() {
      if (burst.isWaiting) return;
      burst.isWaiting = true;
      burst.tell({ type: "waiting" });
    },
  });
  burst.inLine.open();
  const lease = await acquired;
  burst.close();
  burst.settled.open();
  return lease;
}

interface Held {
  readonly burst: Burst;
  readonly lease: Lease;
  readonly ref: KeyRef;
}

/** Answers the members; more than one turn is needed only when some of them were part of one that a crash cut off. */
async function answerAll(deps: TurnDeps, held: Held): Promise<TurnReply | undefined> {
  const { burst, ref } = held;
  for (;;) {
    for (const member of burst.members) await answerStored(deps, held, member);
    const asked = burst.members;
    if (asked.length === 0) return undefined;
    const reply = await runOnce(deps, held, asked);
    if (isBusy(reply)) return reply;
    const answered = await answeredBy(deps, ref, { reply, asked });
    for (const member of answered) burst.answer(member, reply);
  }
}

/** A member that was handled before is answered from the store; one whose id had another text is refused. */
async function answerStored(deps: TurnDeps, { burst, ref }: Held, member: Member): Promise<void> {
  const stored = await findStoredReply(deps.repository, ref, member).catch((error: unknown) => {
    const refused = failedReply(error, member.deliveryId);
    if (isBusy(refused)) throw error;
    return { ...refused, outcome: "refused" as const };
  });
  if (stored !== undefined) burst.answer(member, stored);
}

async function runOnce(
  deps: TurnDeps,
  { burst, lease, ref }: Held,
  asked: readonly Member[],
): Promise<TurnReply> {
  const [first, ...others] = asked;
  const stop = new AbortController();
  burst.running = stop;
  const listens = asked.some(({ request }) => request.onEvent !== undefined);
  const collected = {
    textHash: first?.textHash ?? "",
    others: others.map(({ deliveryId, textHash }) => ({ deliveryId, textHash })),
  };
  try {
    return await runUnderLease(deps, {
      ref,
      lease,
      stop,
      message: { id: first?.deliveryId ?? "", content: joinTexts(asked) },
      ...(others.length === 0 ? {} : { collected }),
      ...(listens ? { onEvent: (event) => burst.tell(event) } : {}),
    });
  } finally {
    burst.running = undefined;
  }
}

/** Those whom the reply answers: all, unless its turn is an older one that was gone on with. */
async function answeredBy(
  deps: TurnDeps,
  { owner, sessionKey }: KeyRef,
  { reply, asked }: { readonly reply: TurnReply; readonly asked: readonly Member[] },
): Promise<readonly Member[]> {
  if (reply.turn === null || asked.length === 1) return asked;
  const { sessionId, turn } = reply;
  const record = await deps.repository.readTurn({ owner, sessionKey, sessionId }, turn);
  const ids = record === undefined ? new Map<string, string>() : deliveriesOf(record);
  const answered = asked.filter(({ deliveryId }) => ids.has(deliveryId));
  return answered.length === 0 ? asked : answered;
}

function pause(timer: Timer, ms: number): Promise<void> {
  return new Promise((resolve) => {
    timer.after(ms, resolve);
  });
}
