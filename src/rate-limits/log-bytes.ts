import { BoundedMap } from "../lib/bounded-map.ts";
import { DAY_MS } from "../lib/clock.ts";
import { LIMITS } from "../lib/limits.ts";

const MAX_REMEMBERED_RESERVATIONS = 1_000;

/** Stored in the object. */
export interface StoredLogBytes {
  /** Since the Unix epoch, in UTC. */
  day: number;
  reserved: number;
}

/** The bytes that logs of an organization have reserved on the present day. */
export class LogBytes {
  #stored: StoredLogBytes;
  /** By the ID of the request, because a request may be sent again. */
  readonly #reservations = new BoundedMap<string, number>(MAX_REMEMBERED_RESERVATIONS);

  constructor(stored: StoredLogBytes = { day: 0, reserved: 0 }) {
    this.#stored = stored;
  }

  get stored(): StoredLogBytes {
    return this.#stored;
  }

  /** Returns how many bytes are reserved: fewer than `bytes` if no more are left. */
  reserve(id: string, bytes: number, now: number): number {
    const earlier = this.#reservations.get(id);
    if (earlier !== undefined) return earlier;
    const day = Math.floor(now / DAY_MS);
    const before = day === this.#stored.day ? this.#stored.reserved : 0;
    const reserved = Math.min(bytes, LIMITS.logBytesOfDay.value - before);
    this.#stored = { day, reserved: before + reserved };
    this.#reservations.set(id, reserved);
    return reserved;
  }
}
