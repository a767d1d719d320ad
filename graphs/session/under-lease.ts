/** What the runs under one lease write to and read from: the same for all steps and hand-offs of a message. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { keepNewest } from "#src/kernel/keep-newest.ts";
import { readOnce } from "#src/sessions/read-once.ts";
import type { SessionRepository } from "#src/sessions/repository.ts";
import type { LeaseRef } from "#src/storage/backend.ts";
import { createStoreSessionRepository } from "#src/storage/store-session-repository.ts";
import { lockName } from "#src/turns/lock-name.ts";
import { perDeps } from "./per-deps.ts";

/** The store under a lease, and the sessions in it. */
export interface UnderLease {
  /** Its writes fail once the lease was lost. */
  readonly store: BaseStore;
  /** Reads what nobody else can write meanwhile once. */
  readonly repository: SessionRepository;
}

/** Leases that are remembered; more turns than this at the same time read again what they have read. */
const MAX_LEASES = 64;

const leasesOf = perDeps(() => new Map<string, UnderLease>());

/** What belongs to a lease; `undefined` where no store can be had under one. */
export function underLease(deps: SessionDeps, lease: LeaseRef): UnderLease | undefined {
  if (deps.fencedStore === undefined) return undefined;
  const leases = leasesOf(deps);
  const name = `${lease.token} ${lease.lockName}`;
  const known = leases.get(name);
  if (known !== undefined) return known;
  const store = deps.fencedStore({ lockName: lease.lockName, token: lease.token });
  const isHeld = (ref: Parameters<typeof lockName>[0]): boolean => lockName(ref) === lease.lockName;
  const made = { store, repository: readOnce(createStoreSessionRepository(store), isHeld) };
  keepNewest(leases, [name, made], MAX_LEASES);
  return made;
}
