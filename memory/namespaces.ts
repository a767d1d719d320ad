/** The Store namespaces of memory, as the specification maps them; every id in them goes through `encodeLabel`. */
import { LilyError } from "#src/kernel/errors.ts";
import { decodeLabel, encodeLabel } from "#src/kernel/ids.ts";
import { taskSchema, type Domain, type Scope } from "./record.ts";

/** Where a record lies: enough to name its namespace. */
export interface RecordPlace {
  readonly domain: Domain;
  readonly scope: Scope;
  /** Given for task memory, and only there. */
  readonly task: string | null;
}

// Every character but "=", "-", letters and digits is escaped in a label, so this one is in none.
const BETWEEN = "~";

/**
 * Refuses an owner that is no one: an empty prefix would stand for everybody.
 *
 * @throws {LilyError} `memory_owner_missing`
 */
export function assertOwner(owner: string): void {
  if (typeof owner === "string" && owner !== "" && owner.isWellFormed() && !owner.includes("\u0000")) return;
  throw new LilyError("memory_owner_missing", "memory belongs to somebody, and no owner was given", {
    next: "Log in, or name the owner in the configuration.",
  });
}

/**
 * A well-formed task name.
 *
 * @throws {LilyError} `memory_input_invalid`
 */
export function taskOf(task: string | undefined): string {
  const { data } = taskSchema.safeParse(task);
  if (data !== undefined) return data;
  const [problem, next] =
    task === undefined
      ? ["task memory belongs to a task", "Name it: --task <name>."]
      : ["a task name has 1 to 200 characters", "Give it a shorter name."];
  throw new LilyError("memory_input_invalid", problem, { next });
}

// No owner holds a control character.
const OWN = "\u0001";

/** Whose the facts and documents of one session key are that keeps its own: a name that is no owner's, and the owner's all the same. */
export function ownMemory(owner: string, sessionKey: string): string {
  return `${owner}${OWN}${sessionKey}`;
}

/** As whom what lies in these namespaces is reached: `owner`, and each of their keys that keeps its own. */
export function memoryOwners(owner: string, namespaces: readonly (readonly string[])[]): string[] {
  const labels = namespaces.flatMap((namespace) =>
    isMemoryOf(owner, namespace) ? [ownerLabel(namespace)] : [],
  );
  return [...new Set([owner, ...labels.map((label) => decodeLabel(label))])];
}

/** The namespace of one record. */
export function recordNamespace(owner: string, { domain, scope, task }: RecordPlace): string[] {
  return [
    ...(domain === "task_memory" ? taskPrefix(owner, task ?? "") : personalityPrefix(owner, domain)),
    encodeLabel(scope),
  ];
}

/** All scopes of an owner in one personality domain. */
export function personalityPrefix(owner: string, domain: Domain): string[] {
  return ["memory", "personality", domain, encodeLabel(owner)];
}

/** All scopes of one task of an owner. The label holds both, so that a task is never shared by its name. */
export function taskPrefix(owner: string, task: string): string[] {
  return ["memory", "task", "task_memory", `${encodeLabel(owner)}${BETWEEN}${encodeLabel(task)}`];
}

/** The names of an owner's tasks, one item a task: a graph node's store cannot list namespaces. */
export function taskIndexNamespace(owner: string): string[] {
  return ["memory", "tasks", encodeLabel(owner)];
}

/** Facts of an owner that wait for a review; never retrieved. */
export function reviewNamespace(owner: string): string[] {
  return ["memory", "review", encodeLabel(owner)];
}

/** Content-free marks of what an owner has forgotten. */
export function tombstoneNamespace(owner: string): string[] {
  return ["memory", "tombstones", encodeLabel(owner)];
}

/** Where documents lie: whose they are, and the knowledge base that they belong to. */
export interface EvidencePlace {
  readonly owner: string;
  readonly kb: string;
}

/** The knowledge base of documents that were given for none by name. */
export const DEFAULT_KB = "default";

/** The documents of a knowledge base, one item each. */
export function sourceNamespace({ owner, kb }: EvidencePlace): string[] {
  return ["evidence", encodeLabel(owner), encodeLabel(kb), "sources"];
}

/** The pieces of its documents: of one, or of all. */
export function pieceNamespace({ owner, kb }: EvidencePlace, sourceId?: string): string[] {
  return [
    "evidence",
    encodeLabel(owner),
    encodeLabel(kb),
    "pieces",
    ...(sourceId === undefined ? [] : [sourceId]),
  ];
}

/** The names of an owner's knowledge bases, one item each: a graph node's store cannot list namespaces. */
export function kbNamespace(owner: string): string[] {
  return ["evidence", encodeLabel(owner), DEFAULT_KB, "kbs"];
}

/** Whether a namespace of memory or evidence, of whatever kind, holds what is of `owner`, or of what one of their session keys keeps as its own. */
export function isMemoryOf(owner: string, namespace: readonly string[]): boolean {
  const label = ownerLabel(namespace);
  return label === encodeLabel(owner) || label.startsWith(encodeLabel(`${owner}${OWN}`));
}

/** The label that says whose a namespace of memory or evidence is. */
function ownerLabel([root, second = "", third = "", fourth = ""]: readonly string[]): string {
  if (root === "evidence") return second;
  if (second === "personality") return fourth;
  return second === "task" ? (fourth.split(BETWEEN)[0] ?? "") : third;
}

/** Whether the labels of `namespace` begin with those of `prefix`. */
export function startsWithLabels(namespace: readonly string[], prefix: readonly string[]): boolean {
  return prefix.length <= namespace.length && prefix.every((label, index) => label === namespace[index]);
}

/** Whether facts or documents lie there. */
export function isMemory([root]: readonly string[]): boolean {
  return root === "evidence" || root === "memory";
}

/**
 * What of an item a search may find: in a memory namespace the text of a record; nothing of tombstones and of what waits
 * for a review; of evidence the text of its pieces and the headings above it; everywhere else every string.
 */
export function indexFieldsOf(namespace: readonly string[]): string[] | false {
  if (!isMemory(namespace)) return ["$"];
  const [root, kind, , part] = namespace;
  if (root === "evidence") return part === "pieces" ? ["text", "headings"] : false;
  return kind === "personality" || kind === "task" ? ["text"] : false;
}
