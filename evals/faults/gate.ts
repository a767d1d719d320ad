/** The gate through which every call of a port passes: each is a named point, before it and after it. */

/** One moment of a run: before or after the `n`-th call of a name. */
export interface FaultPoint {
  /** Port and call: `store.put history`, `model.stream`, `sql store COMMIT`. */
  readonly name: string;
  /** Which call of that name, from 1. */
  readonly n: number;
  readonly side: "before" | "after";
}

/** Told of every point while the gate is armed. What it throws is what the call throws. */
export type Watch = (point: FaultPoint) => void;

/** Lets calls through, and tells of them. */
export interface Gate {
  pass<T>(name: string, work: () => T | Promise<T>): Promise<T>;
  passNow<T>(name: string, work: () => T): T;
  /** For a call that is a stream: tells that it begins; the returned function tells that it has ended. */
  enter(name: string): () => void;
  /** From here on calls are counted, from 1, and told. */
  arm(watch: Watch): void;
  disarm(): void;
}

/** Makes a gate that tells nobody yet. */
export function createGate(): Gate {
  let counts = new Map<string, number>();
  let watch: Watch | undefined;
  const enter = (name: string): (() => void) => {
    const n = (counts.get(name) ?? 0) + 1;
    counts.set(name, n);
    watch?.({ name, n, side: "before" });
    return () => watch?.({ name, n, side: "after" });
  };
  return {
    enter,
    async pass(name, work) {
      const leave = enter(name);
      const result = await work();
      leave();
      return result;
    },
    passNow(name, work) {
      const leave = enter(name);
      const result = work();
      leave();
      return result;
    },
    arm(next) {
      counts = new Map();
      watch = next;
    },
    disarm() {
      watch = undefined;
    },
  };
}

/** A point as it is printed and given on a command line: `before:2:store.put history`. */
export function printPoint({ name, n, side }: FaultPoint): string {
  return `${side}:${n}:${name}`;
}

/** @throws when the text is no point */
export function parsePoint(text: string): FaultPoint {
  const [, side, n, name] = /^(before|after):(\d+):(.+)$/u.exec(text) ?? [];
  if (name === undefined || (side !== "before" && side !== "after"))
    throw new Error(`${JSON.stringify(text)} is no point such as "before:2:store.put history"`);
  return { name, n: Number(n), side };
}
