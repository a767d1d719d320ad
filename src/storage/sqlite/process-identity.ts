/** Tells whether the process that holds a lease has ended, so that its lock need not run out. */
import { readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** Names a process to others on the same host. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Host name and, on Linux, the process id namespace: containers may share a host name, not their process ids. */
  readonly host: string;
}

/** The identity of this process. */
export function currentProcess(): ProcessIdentity {
  let host = hostname();
  try {
    host += ` ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    // Not Linux: there are no process id namespaces to tell apart.
  }
  return { pid: process.pid, host };
}

/** Whether `other` is known to have ended: false on another host, and while another process has its id. */
export function isProcessGone(other: ProcessIdentity, { host } = currentProcess()): boolean {
  if (other.host !== host) return false;
  try {
    process.kill(other.pid, 0);
    return false;
  } catch (error) {
    // EPERM: it runs, as somebody else.
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}
