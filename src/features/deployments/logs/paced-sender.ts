/** Time for each follower to read what the notification is about. */
export const MS_PER_FOLLOWER = 2;

/**
 * Sends at once, and then at most once in a time that grows with the number of followers, because each
 * notification makes each of them read.
 */
export class PacedSender {
  readonly #send: () => void;
  #nextAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(send: () => void) {
    this.#send = send;
  }

  /** Does nothing without followers, so that no timer keeps an object awake. */
  send(followers: number): void {
    if (followers === 0 || this.#timer !== undefined) return;
    const intervalMs = followers * MS_PER_FOLLOWER;
    const waitMs = this.#nextAt - Date.now();
    if (waitMs <= 0) this.#sendNow(intervalMs);
    else this.#timer = setTimeout(() => this.#sendNow(intervalMs), Math.min(waitMs, intervalMs));
  }

  #sendNow(intervalMs: number): void {
    this.#timer = undefined;
    this.#nextAt = Date.now() + intervalMs;
    this.#send();
  }
}
