import { batch } from "../../../db/batch.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { describeError } from "../../../lib/log.ts";
import {
  type ClaimedDelivery,
  claimNext,
  findThrottled,
  type Released,
  release,
  toClaimed,
} from "./claim.ts";
import { type Endpoints, SLOW_MS } from "./endpoints.ts";
import { type SendingContext, send } from "./send.ts";
import { SLACK_INTERVAL_MS, type Turn } from "./turns.ts";
import { type DeliveryMessage, scheduleWakeUps, type WakeUp } from "./wake-up.ts";
import { type AttemptContext, type SentDelivery, toSent, writeAttempts } from "./write-attempts.ts";

const CONNECTIONS = LIMITS.deliveryConnections.value;
const MAX_CLAIMED = LIMITS.claimedDeliveries.value;
const CLAIMING_MS = LIMITS.claimingMs.value;
/** Claims again before all are sent, so that no connection waits for a claim. */
const LOW_WATER = MAX_CLAIMED / 2;
/** Delivery attempts that end within this time are recorded in one batch. */
const RECORD_WINDOW_MS = 50;
const MAX_RECORDED = LIMITS.claimedDeliveries.value;
const RECORD_TRIES = 3;

export interface SenderContext extends SendingContext, AttemptContext {
  queue: Queue<DeliveryMessage>;
  endpoints: Endpoints;
}

/** Claims deliveries, sends them, and records the delivery attempts: one batch claims and records. */
export class Sender {
  readonly #ctx: SenderContext;
  readonly #woken: readonly string[];
  readonly #startedAt: number;
  /** Claimed, and not sent yet. */
  readonly #waiting: ClaimedDelivery[] = [];
  readonly #sending = new Set<ClaimedDelivery>();
  /** Sent, and not recorded yet. */
  readonly #sent: SentDelivery[] = [];
  /** Claimed, and not sent because of their host. */
  readonly #held: Released[] = [];
  #writeTimer: ReturnType<typeof setTimeout> | undefined;
  #isWindowOver = false;
  #mayFindMore = true;
  #isFirstClaim = true;
  #isFinishing = false;
  /** By integration of which more deliveries were due at its last claim, one of its deliveries. */
  readonly #withMore = new Map<string, string>();
  #lastClaimed: string | undefined;
  #changed = Promise.withResolvers<"changed">();

  /** @param woken The deliveries of the messages. */
  constructor(ctx: SenderContext, woken: readonly string[]) {
    this.#ctx = ctx;
    this.#woken = woken;
    this.#lastClaimed = woken[0];
    this.#startedAt = ctx.clock.now();
  }

  /**
   * Returns when nothing more is due, when its time is over, or when all endpoints are slow.
   * Rejects if the database does.
   */
  async sendDue(): Promise<void> {
    // Rejects before the claim if the deployment cannot decrypt URLs.
    await this.#ctx.cipher();
    while (this.#isInTime()) {
      if (this.#needsClaim() || this.#needsWrite()) await this.#writeAndClaim();
      else if (!this.#mayFindMoreLater()) return;
      else if ((await this.#nextChange()) === "timeout") return;
    }
  }

  /** Gives back what was not sent, and records what is still being sent. */
  async finish(): Promise<void> {
    this.#isFinishing = true;
    const unsent = this.#waiting.splice(0);
    const dueAt = this.#now();
    const released = unsent.map((each) => ({ ...each, dueAt }));
    if (unsent.length > 0) await this.#try(async () => release(this.#ctx.db, released, dueAt));
    // At once, because the requests in progress may take long.
    await this.#wakeForMore(unsent);
    for (let failures = 0; this.#sending.size + this.#unrecorded > 0; ) {
      if (this.#needsWrite()) {
        const isWritten = await this.#try(() => this.#writeAndClaim());
        failures = isWritten ? 0 : failures + 1;
        if (failures >= RECORD_TRIES) [this.#sent, this.#held].map((each) => each.splice(0));
      }
      if (this.#sending.size + this.#unrecorded > 0) await this.#nextChange();
    }
    await this.#wakeForMore([]);
  }

  async #wakeForMore(unsent: readonly ClaimedDelivery[]): Promise<void> {
    const deliveryIds = [...this.#withMore.values(), ...unsent.map(({ id }) => id)];
    this.#withMore.clear();
    await this.#wakeUp(deliveryIds.map((deliveryId) => ({ deliveryId, delayMs: 0 })));
  }

  #now(): number {
    return this.#ctx.clock.now();
  }

  #isInTime(): boolean {
    return this.#now() - this.#startedAt < CLAIMING_MS;
  }

  get #unrecorded(): number {
    return this.#sent.length + this.#held.length;
  }

  #needsClaim(): boolean {
    return !this.#isFinishing && this.#mayFindMore && this.#waiting.length < LOW_WATER;
  }

  #needsWrite(): boolean {
    const isIdle = this.#sending.size === 0 && this.#waiting.length === 0;
    const isDue = this.#isWindowOver || isIdle || this.#unrecorded >= MAX_RECORDED;
    return this.#unrecorded > 0 && isDue;
  }

  /** Whether some remain to be sent, or a request must end before more can be claimed. */
  #mayFindMoreLater(): boolean {
    const isWithMore = ({ integrationId }: ClaimedDelivery) => this.#withMore.has(integrationId);
    return this.#waiting.length > 0 || [...this.#sending].some(isWithMore);
  }

  async #writeAndClaim(): Promise<void> {
    const { db } = this.#ctx;
    const [sent, held] = [this.#sent.splice(0), this.#held.splice(0)];
    if (this.#writeTimer !== undefined) clearTimeout(this.#writeTimer);
    this.#writeTimer = undefined;
    this.#isWindowOver = false;
    const maximum = MAX_CLAIMED - this.#waiting.length;
    const turn = this.#needsClaim() ? this.#turn(maximum) : undefined;
    // A request that ends during the claim may make further deliveries claimable.
    if (turn) this.#mayFindMore = false;
    const now = this.#now();
    const wakeUps = [
      ...sent.flatMap((each) => this.#retryOf(each)),
      ...held.map(({ id, dueAt }) => ({ deliveryId: id, delayMs: dueAt - now })),
    ];
    try {
      const { claimed, throttled = [] } = await batch(this.#ctx.db, {
        recorded: writeAttempts(this.#ctx, sent),
        held: held.length > 0 ? release(db, held, now) : undefined,
        claimed: turn && claimNext(db, turn),
        throttled: turn && this.#isFirstClaim ? findThrottled(db, turn.woken, turn.now) : undefined,
      });
      if (turn) this.#isFirstClaim = false;
      wakeUps.push(...throttled.map(({ id, waitMs }) => ({ deliveryId: id, delayMs: waitMs })));
      if (claimed) wakeUps.push(...this.#take(toClaimed(claimed, maximum)));
    } catch (error) {
      this.#sent.unshift(...sent);
      this.#held.unshift(...held);
      this.#startRecordTimer();
      throw error;
    }
    await this.#wakeUp(wakeUps);
  }

  #turn(maximum: number): Turn {
    const [busy, proven] = [this.#busy(), this.#ctx.endpoints.proven()];
    this.#ctx.endpoints.leaveOut(busy);
    const startsWith = this.#lastClaimed;
    return { now: this.#now(), maximum, woken: this.#woken, startsWith, busy, proven };
  }

  /** Integrations whose endpoints have as many requests as they may. */
  #busy(): string[] {
    const { endpoints } = this.#ctx;
    const proven = endpoints.proven();
    const waiting = this.#waiting.map(({ integrationId }) => integrationId);
    return [...endpoints.busy(this.#now()), ...waiting.filter((id) => !proven.includes(id))];
  }

  #take({ deliveries, isFull, withMore, withoutMore }: ReturnType<typeof toClaimed>): WakeUp[] {
    const slack = deliveries.filter(({ integrationType }) => integrationType === "slack");
    const throttled = slack.filter(({ integrationId }) => withMore.has(integrationId));
    for (const [id, deliveryId] of withMore) this.#withMore.set(id, deliveryId);
    for (const id of withoutMore) this.#withMore.delete(id);
    for (const { integrationId } of throttled) this.#withMore.delete(integrationId);
    this.#lastClaimed = deliveries.at(-1)?.id ?? this.#lastClaimed;
    this.#waiting.push(...deliveries);
    this.#fillConnections();
    const busy = this.#busy();
    this.#mayFindMore ||= isFull || [...withMore.keys()].some((id) => !busy.includes(id));
    return throttled.map(({ id }) => ({ deliveryId: id, delayMs: SLACK_INTERVAL_MS }));
  }

  #fillConnections(): void {
    // A late claim would leave too little time for slow endpoints: `finish` gives back what is left.
    if (this.#isFinishing || !this.#isInTime()) return;
    while (this.#sending.size < CONNECTIONS) {
      const next = this.#nextToSend();
      if (!next) return;
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      this.#sending.add(next);
      void this.#send(next);
    }
  }

  /** Of those whose endpoint accepts requests, one of the organization with the fewest requests. */
  #nextToSend(): ClaimedDelivery | undefined {
    const now = this.#now();
    const requests = Map.groupBy(this.#sending, ({ organizationId }) => organizationId);
    const countOf = ({ organizationId }: ClaimedDelivery) =>
      requests.get(organizationId)?.length ?? 0;
    return this.#waiting
      .filter(({ integrationId }) => this.#ctx.endpoints.accepts(integrationId, now))
      .reduce<ClaimedDelivery | undefined>(
        (best, each) => (best && countOf(best) <= countOf(each) ? best : each),
        undefined,
      );
  }

  async #send(claimed: ClaimedDelivery): Promise<void> {
    const { endpoints } = this.#ctx;
    const { integrationId } = claimed;
    const request = endpoints.begin(integrationId, this.#now(), claimed.failingSince !== null);
    await this.#try(async () => {
      const attempt = await send(this.#ctx, claimed);
      if ("waitMs" in attempt) this.#hold(claimed, attempt.waitMs);
      else this.#sent.push(toSent(this.#ctx, claimed, attempt));
      this.#startRecordTimer();
    });
    if (endpoints.end(integrationId, request, this.#now())) {
      this.#withMore.set(integrationId, claimed.id);
    }
    this.#sending.delete(claimed);
    this.#mayFindMore ||= this.#withMore.has(integrationId) && this.#isInTime();
    this.#fillConnections();
    this.#changed.resolve("changed");
  }

  /** Nothing of the integration is sent until then. */
  #hold(claimed: ClaimedDelivery, waitMs: number): void {
    const dueAt = this.#now() + waitMs;
    const { integrationId } = claimed;
    this.#ctx.endpoints.hold(integrationId, dueAt);
    this.#withMore.delete(integrationId);
    const others = this.#waiting.filter((each) => each.integrationId === integrationId);
    for (const each of others) this.#waiting.splice(this.#waiting.indexOf(each), 1);
    this.#held.push(...[claimed, ...others].map((each) => ({ ...each, dueAt })));
  }

  #startRecordTimer(): void {
    this.#writeTimer ??= setTimeout(() => {
      this.#isWindowOver = true;
      this.#changed.resolve("changed");
    }, RECORD_WINDOW_MS);
  }

  /** Waits until a request ends, or until the record window is over. */
  async #nextChange(): Promise<"changed" | "timeout"> {
    const timeout = Promise.withResolvers<"timeout">();
    const timer = setTimeout(() => timeout.resolve("timeout"), SLOW_MS);
    const change = await Promise.race([this.#changed.promise, timeout.promise]);
    clearTimeout(timer);
    if (change === "changed") this.#changed = Promise.withResolvers();
    return change;
  }

  #retryOf({ claimed, retryAt, pausedUntil }: SentDelivery): WakeUp[] {
    const dueAt = [retryAt, pausedUntil].filter((at) => at !== undefined);
    return dueAt.map((at) => ({ deliveryId: claimed.id, delayMs: at - this.#now() }));
  }

  /** What this cannot enqueue, the sweep enqueues. */
  async #wakeUp(wakeUps: readonly WakeUp[]): Promise<void> {
    await this.#try(() => scheduleWakeUps(this.#ctx.queue, wakeUps));
  }

  /** Logs an error: the deliveries become due again when their claims end. */
  async #try(run: () => Promise<unknown>): Promise<boolean> {
    try {
      await run();
      return true;
    } catch (error) {
      this.#ctx.log("error", "delivery.not_handled", describeError(error));
      return false;
    }
  }
}
