/** The locks of the keys that an erasure changes: taken in one order, each with a bounded wait, kept to the end. */
import { LilyError, isLilyError } from "#src/kernel/errors.ts";
import type { KeyRef } from "#src/sessions/repository.ts";
import type { KeyLock, Lease, LeaseRef } from "#src/storage/backend.ts";
import { lockName } from "#src/sessions/session-key.ts";

/** A turn that runs longer is not waited for: somebody waits for the receipt. */
const WAIT_MS = 2_000;
const SHORT_WAIT_MS = 20;

/** A lock that the caller holds already. */
export interface HeldKey {
  readonly ref: KeyRef;
  readonly lease: LeaseRef;
}

export class KeyLeases {
  readonly #locks: KeyLock;
  readonly #waitMs: number;
  readonly #held = new Map<string, LeaseRef>();
  readonly #taken: Lease[] = [];
  readonly #busy = new Map<string, string>();

  constructor(
    locks: KeyLock,
    { held, waitMs = WAIT_MS }: { readonly held?: HeldKey | undefined; readonly waitMs?: number | undefined },
  ) {
    this.#locks = locks;
    this.#waitMs = waitMs;
    if (held !== undefined) this.#held.set(lockName(held.ref), held.lease);
  }

  /** Takes those that are not held, once each. In one order, so that two erasures of an owner wait for each other at most once. */
  async take(refs: readonly KeyRef[]): Promise<void> {
    const wanted = new Map(refs.map((ref) => [lockName(ref), ref]));
    for (const name of [...wanted.keys()].sort()) {
      if (this.#held.has(name) || this.#busy.has(name)) continue;
      const lease = await this.#acquire(name);
      if (lease === undefined) {
        this.#busy.set(name, wanted.get(name)?.sessionKey ?? "");
        continue;
      }
      this.#held.set(name, lease);
      this.#taken.push(lease);
    }
  }

  async #acquire(name: string): Promise<Lease | undefined> {
    try {
      // Whoever waited for one long turn does not wait for many.
      return await this.#locks.acquire(name, {
        waitMs: this.#busy.size === 0 ? this.#waitMs : SHORT_WAIT_MS,
      });
    } catch (error) {
      if (isLilyError(error) && error.code === "lease_timeout") return undefined;
      throw error;
    }
  }

  /** The lease of a key; `undefined` when a turn runs on it. */
  of(ref: KeyRef): LeaseRef | undefined {
    return this.#held.get(lockName(ref));
  }

  /** Any of them, for what belongs to no key. */
  any(): LeaseRef | undefined {
    return this.#held.values().next().value;
  }

  /** Session keys on which turns ran for longer than was waited. */
  get busy(): readonly string[] {
    return [...this.#busy.values()].sort();
  }

  /** @throws {LilyError} `lease_lost` when one was lost meanwhile: somebody else may be writing */
  assertHeld(): void {
    const lost = this.#taken.find((lease) => lease.lost.aborted);
    if (lost === undefined) return;
    throw new LilyError("lease_lost", "the lock of a conversation was lost while it was erased from", {
      next: "Ask for the erasure again: it goes on where it was.",
    });
  }

  /** Gives back those that were taken here. */
  async release(): Promise<void> {
    await Promise.all(this.#taken.map((lease) => lease.release()));
  }
}
