/** Stores of which a batch is one transaction, and a view of one that may refuse what it is asked. */
import { BaseStore, type Operation, type OperationResults } from "@langchain/langgraph-checkpoint";

/** A LangGraph store whose `batch` happens as a whole or not at all. The one that graph nodes are given throws on it. */
export abstract class AtomicStore extends BaseStore {}

/** Runs a batch of operations. */
export type RunBatch = <Op extends Operation[]>(operations: Op) => Promise<OperationResults<Op>>;

/** A view of another store: every operation goes through one function, which may refuse it. */
export class StoreView extends AtomicStore {
  readonly #run: RunBatch;

  constructor(run: RunBatch) {
    super();
    this.#run = run;
  }

  override batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    return this.#run(operations);
  }
}
