/** What a checkpoint namespace says about how long its checkpoints are needed. */

/**
 * Whether checkpoints in `namespace` are of use to a single run only. LangGraph names a subgraph that starts anew in
 * each run `node:taskId`; the root (`""`) and subgraphs with a memory of their own (`node`) have no ":", and their
 * newest checkpoint is what the next run goes on from, however old it is.
 */
export function belongsToOneRun(namespace: string): boolean {
  return namespace.includes(":");
}
