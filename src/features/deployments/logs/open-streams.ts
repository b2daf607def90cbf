import { RateLimited } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";

const RETRY_SECONDS = 10;

/** Counts the open streams of each key in this isolate, because each needs memory. */
export class OpenStreams {
  readonly #counts = new Map<string, number>();

  /**
   * Call the returned function once, at the end of the stream.
   * @throws RateLimited if the key has too many.
   */
  open(keyId: string): () => void {
    const count = this.#counts.get(keyId) ?? 0;
    if (count >= LIMITS.logStreamsOfKey.value) throw new RateLimited(RETRY_SECONDS);
    this.#counts.set(keyId, count + 1);
    return () => {
      const left = (this.#counts.get(keyId) ?? 1) - 1;
      if (left > 0) this.#counts.set(keyId, left);
      else this.#counts.delete(keyId);
    };
  }
}
