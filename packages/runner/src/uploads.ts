import { delay } from "./api.ts";

/** After a signal, in which time an upload is still finished. */
export const ENDING_MS = 10_000;
/** Each has a file of up to `log_bytes`, and sends requests with the token of the heartbeats. */
export const MAXIMUM_PENDING = 4;

export interface Upload {
  /** Resolves at its end. Never rejects. */
  readonly uploaded: Promise<void>;
  stop(): void;
}

/** The uploads of logs that continue in the background. Each ends by itself. */
export class Uploads {
  readonly #pending = new Set<Upload>();

  /** Stops the oldest if there are too many. */
  add(upload: Upload): void {
    this.#pending.add(upload);
    const [oldest] = this.#pending;
    if (this.#pending.size > MAXIMUM_PENDING) oldest?.stop();
    void upload.uploaded.then(() => this.#pending.delete(upload));
  }

  /** Before the process exits. Waits only a while after a signal, and no longer after a second one. */
  async finish({ ending, force }: { ending: AbortSignal; force: AbortSignal }): Promise<void> {
    if (this.#pending.size === 0) return;
    const isOver = new AbortController();
    const all = Promise.all([...this.#pending].map(({ uploaded }) => uploaded));
    const ended = whenAborted(ending).then(() => delay(ENDING_MS, isOver.signal));
    await Promise.race([all, ended, whenAborted(force)]);
    isOver.abort();
    for (const upload of this.#pending) upload.stop();
  }
}

function whenAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) =>
    signal.addEventListener("abort", () => resolve(), { once: true }),
  );
}
