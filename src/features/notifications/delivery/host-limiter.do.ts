import { DurableObject } from "cloudflare:workers";
import { type HostDecision, HostWindow } from "./host-window.ts";

const SUCCEEDED_AT = "succeededAt";
const SAVE_INTERVAL_MS = 60_000;

/**
 * Limits the requests of all organizations to the host that it is named after. Only a host that has
 * answered 2xx within the last hour is stored.
 */
export class HostLimiter extends DurableObject<Env> {
  #window = new HostWindow();
  #savedAt = Number.NEGATIVE_INFINITY;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    ctx.blockConcurrencyWhile(async () => {
      this.#window = new HostWindow(await ctx.storage.get<number>(SUCCEEDED_AT));
    });
  }

  ask(organizationId: string): HostDecision {
    return this.#window.ask(organizationId, Date.now());
  }

  /** The host has answered 2xx. */
  async succeed(): Promise<void> {
    const now = Date.now();
    this.#window.succeed(now);
    if (now < this.#savedAt + SAVE_INTERVAL_MS) return;
    this.#savedAt = now;
    const { storage } = this.ctx;
    await storage.put(SUCCEEDED_AT, now);
    if ((await storage.getAlarm()) === null) await this.#setAlarm(now);
  }

  override async alarm(): Promise<void> {
    const now = Date.now();
    if (this.#window.goodForMs(now) > 0) await this.#setAlarm(now);
    else await this.ctx.storage.deleteAll();
  }

  async #setAlarm(now: number): Promise<void> {
    await this.ctx.storage.setAlarm(now + this.#window.goodForMs(now));
  }
}
