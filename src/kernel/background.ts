/** Work that no caller waits for. */

/** Jobs of one process, by name. */
export class Background {
  readonly #jobs = new Map<string, Promise<void>>();
  readonly #onError: (error: unknown) => void;

  /** `onError` is told of each job that fails; nothing else comes of it. */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Begins `job`, unless one of the same name has not ended yet. */
  run(name: string, job: () => Promise<unknown>): void {
    if (this.#jobs.has(name)) return;
    const ended = this.#finish(job).finally(() => this.#jobs.delete(name));
    this.#jobs.set(name, ended);
  }

  /** Resolves when no job runs. */
  async settled(): Promise<void> {
    while (this.#jobs.size > 0) await Promise.all(this.#jobs.values());
  }

  async #finish(job: () => Promise<unknown>): Promise<void> {
    try {
      await job();
    } catch (error) {
      this.#onError(error);
    }
  }
}
