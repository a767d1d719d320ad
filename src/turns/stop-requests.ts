/** How a turn that runs in another process is asked to stop: rows in the Store, which the turn looks at as it runs. */
import type { BaseStore, SearchItem } from "@langchain/langgraph-checkpoint";
import { z } from "zod";
import { encodeLabel } from "#src/kernel/namespace-label.ts";
import type { KeyRef } from "#src/sessions/repository.ts";

/** The turn that runs under one lease of a key. A request to it never reaches a later turn, whose token is another. */
export interface LeasedTurn extends KeyRef {
  /** Fencing token of the lease. */
  readonly token: number;
}

/** Requests to stop, each in the name of the delivery that asks. */
export interface StopRequests {
  /** Asks the turn to stop. Requests to earlier turns of the key, which came too late, are removed. */
  ask(turn: LeasedTurn, by: string): Promise<void>;
  /** Who asks it. Requests to earlier turns of the key, which came too late, are removed. */
  read(turn: LeasedTurn): Promise<string[]>;
  /** Whether the request is still there: neither taken back nor declined. */
  isPending(turn: LeasedTurn, by: string): Promise<boolean>;
  /** Takes a request back, or declines it. Idempotent. */
  remove(turn: LeasedTurn, by: string): Promise<void>;
  /** Removes all requests to the turn and to those before it. */
  clear(turn: LeasedTurn): Promise<void>;
}

const rowSchema = z.object({ token: z.int(), by: z.string() });

/** More than ever ask at once; those beyond wait for the next look. */
const PAGE = 100;

/** Makes the requests that live in `store`. */
export function createStoreStopRequests(store: BaseStore): StopRequests {
  const rows = async (turn: LeasedTurn) => {
    const namespace = namespaceOf(turn);
    const items = await store.search(namespace, { limit: PAGE });
    return items.filter((item) => isIn(item, namespace)).flatMap(rowOf);
  };
  const remove: StopRequests["remove"] = (turn, by) => store.delete(namespaceOf(turn), rowKey(turn, by));
  const removeEarlier = async (
    turn: LeasedTurn,
    found: readonly z.infer<typeof rowSchema>[],
  ): Promise<void> => {
    for (const { token, by } of found) if (token < turn.token) await remove({ ...turn, token }, by);
  };
  return {
    async ask(turn, by) {
      await removeEarlier(turn, await rows(turn));
      await store.put(namespaceOf(turn), rowKey(turn, by), { token: turn.token, by }, false);
    },
    async read(turn) {
      const found = await rows(turn);
      await removeEarlier(turn, found);
      return found.filter(({ token }) => token === turn.token).map(({ by }) => by);
    },
    async isPending(turn, by) {
      const item = await store.get(namespaceOf(turn), rowKey(turn, by));
      return item !== null && item !== undefined;
    },
    remove,
    async clear(turn) {
      for (;;) {
        const over = (await rows(turn)).filter(({ token }) => token <= turn.token);
        for (const { token, by } of over) await remove({ ...turn, token }, by);
        if (over.length < PAGE) return;
      }
    },
  };
}

function namespaceOf({ owner, sessionKey }: KeyRef): string[] {
  return ["stop-requests", encodeLabel(owner), encodeLabel(sessionKey)];
}

function rowKey({ token }: LeasedTurn, by: string): string {
  return `${token}/${by}`;
}

/** Some stores let rows of another namespace through. */
function isIn(item: SearchItem, namespace: readonly string[]): boolean {
  return item.namespace.join("/") === namespace.join("/");
}

function rowOf(item: SearchItem): z.infer<typeof rowSchema>[] {
  const parsed = rowSchema.safeParse(item.value);
  return parsed.success ? [parsed.data] : [];
}
