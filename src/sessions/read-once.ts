/** Reads of a run that holds the lease of its key. */
import type { KeyRef, SessionRepository } from "./repository.ts";

/**
 * The same repository for a while in which nobody else writes what `isHeld` names: its chain, and each of its turns that is
 * asked for by number, is read once until something is written through this repository.
 */
export function readOnce(repository: SessionRepository, isHeld: (ref: KeyRef) => boolean): SessionRepository {
  const reads = new Map<string, Promise<unknown>>();
  const once = <T>(ref: KeyRef, name: string, read: () => Promise<T>): Promise<T> => {
    if (!isHeld(ref)) return read();
    const known = reads.get(name);
    if (known !== undefined) return known as Promise<T>;
    const made = read();
    reads.set(name, made);
    // A read that failed may be tried again.
    made.catch(() => reads.get(name) === made && reads.delete(name));
    return made;
  };
  /** Also behind a write that was reported as failed: it may have been made. */
  const writing = async <T>(write: () => Promise<T>): Promise<T> => {
    reads.clear();
    try {
      return await write();
    } finally {
      reads.clear();
    }
  };
  return {
    ...repository,
    readChain: (ref) => once(ref, "chain", () => repository.readChain(ref)),
    readStoredTurn: (ref, turn) =>
      once(ref, `${ref.sessionId}/${turn}`, () => repository.readStoredTurn(ref, turn)),
    writeChain: (chain) => writing(() => repository.writeChain(chain)),
    writeTurn: (ref, record) => writing(() => repository.writeTurn(ref, record)),
    redactTurns: (...parts) => writing(() => repository.redactTurns(...parts)),
  };
}
