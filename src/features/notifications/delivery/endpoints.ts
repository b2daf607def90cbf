import { BoundedMap } from "../../../lib/bounded-map.ts";

/** A request that takes longer than this is slow. */
export const SLOW_MS = 500;
/** To an endpoint that has not responded in time before. */
export const UNPROVEN_REQUESTS = 2;
const MAX_PROVEN = 200;
const MAX_HELD = 1_000;

interface InProgress {
  /** The start of each request, oldest first. */
  starts: number[];
  isFailing: boolean;
  /** A claim left the integration out meanwhile. */
  wasLeftOut: boolean;
}

/**
 * What an isolate knows of the endpoints of integrations, so that those that hang take few
 * connections. An empty one costs a few requests.
 */
export class Endpoints {
  readonly #inProgress = new Map<string, InProgress>();
  readonly #proven = new BoundedMap<string, true>(MAX_PROVEN);
  /** By integration, until when its host gets no further requests. */
  readonly #heldUntil = new BoundedMap<string, number>(MAX_HELD);

  /** Whether another request may start now. */
  accepts(integrationId: string, now: number): boolean {
    if (this.#mustWait(integrationId, now)) return false;
    const endpoint = this.#inProgress.get(integrationId);
    if (!endpoint) return true;
    if (endpoint.isFailing || isSlow(endpoint, now)) return false;
    return this.#proven.has(integrationId) || endpoint.starts.length < UNPROVEN_REQUESTS;
  }

  /** Returns what `end` needs. */
  begin(integrationId: string, now: number, isFailing: boolean): number {
    const endpoint = this.#inProgress.get(integrationId) ?? {
      starts: [],
      isFailing,
      wasLeftOut: false,
    };
    endpoint.starts.push(now);
    endpoint.isFailing ||= isFailing;
    this.#inProgress.set(integrationId, endpoint);
    return now;
  }

  /** Returns whether more may be due: a claim left the integration out, which now accepts requests. */
  end(integrationId: string, startedAt: number, now: number): boolean {
    const endpoint = this.#inProgress.get(integrationId);
    if (!endpoint) return false;
    endpoint.starts.splice(endpoint.starts.indexOf(startedAt), 1);
    if (endpoint.starts.length === 0) this.#inProgress.delete(integrationId);
    if (now - startedAt > SLOW_MS) this.#proven.delete(integrationId);
    else if (!this.#mustWait(integrationId, now)) this.#proven.set(integrationId, true);
    const mayClaim = endpoint.wasLeftOut && this.accepts(integrationId, now);
    if (mayClaim) endpoint.wasLeftOut = false;
    return mayClaim;
  }

  /** A request was not sent, and none is until then. Precedes its `end`. */
  hold(integrationId: string, until: number): void {
    this.#heldUntil.set(integrationId, until);
  }

  leaveOut(integrationIds: readonly string[]): void {
    for (const id of integrationIds) {
      const endpoint = this.#inProgress.get(id);
      if (endpoint) endpoint.wasLeftOut = true;
    }
  }

  /** The integrations for which `accepts` is false. */
  busy(now: number): string[] {
    for (const [id, until] of this.#heldUntil) if (until <= now) this.#heldUntil.delete(id);
    const known = new Set([...this.#inProgress.keys(), ...this.#heldUntil.keys()]);
    return [...known].filter((id) => !this.accepts(id, now));
  }

  proven(): string[] {
    return [...this.#proven.keys()];
  }

  #mustWait(integrationId: string, now: number): boolean {
    return (this.#heldUntil.get(integrationId) ?? 0) > now;
  }
}

function isSlow({ starts: [oldest] }: InProgress, now: number): boolean {
  return oldest !== undefined && now - oldest > SLOW_MS;
}
