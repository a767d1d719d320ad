/** Tells whether the process that holds a lease is gone, without being fooled by a reused process id. */
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** Names a process so that another one on the same host can look for it. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Host name and, on Linux, the process id namespace: containers may share a host name, not their process ids. */
  readonly host: string;
  /** Start in clock ticks since boot; `null` where the system does not tell. */
  readonly started: number | null;
}

/** The identity of this process. */
export function currentProcess(): ProcessIdentity {
  return { pid: process.pid, host: currentHost(), started: statOf(process.pid)?.started ?? null };
}

/** Whether `other` is known to have ended. False for processes on other hosts, of which nothing is known. */
export function isProcessGone(other: ProcessIdentity, host = currentHost()): boolean {
  if (other.host !== host) return false;
  if (!answersSignals(other.pid)) return true;
  const stat = statOf(other.pid);
  if (stat === undefined) return false;
  return stat.dead || (other.started !== null && other.started !== stat.started);
}

function currentHost(): string {
  try {
    return `${hostname()} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    // Not Linux: there are no process id namespaces to tell apart.
    return hostname();
  }
}

function answersSignals(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs, as somebody else.
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}

interface ProcessStat {
  /** Killed, but not yet waited for by its parent. */
  readonly dead: boolean;
  readonly started: number;
}

// Fields of /proc/<pid>/stat after the command, which is in parentheses and may hold anything: state is field 3 of
// the line, the start time field 22 (proc(5)).
const STATE = 0;
const START_TIME = 19;

function statOf(pid: number): ProcessStat | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
    const started = Number(fields[START_TIME]);
    if (!Number.isSafeInteger(started)) return undefined;
    return { dead: fields[STATE] === "Z" || fields[STATE] === "X", started };
  } catch {
    // Not Linux, or the process ended just now; the next look will tell.
    return undefined;
  }
}
