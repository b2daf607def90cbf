import type { SystemContext } from "../../../context.ts";
import { BoundedMap } from "../../../lib/bounded-map.ts";
import { callObject, type ObjectNamespace } from "../../../lib/call-object.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { describeError } from "../../../lib/log.ts";
import { isLoopback } from "../../../lib/origins.ts";
import { allowsInsecureWebhooks } from "../../../lib/settings.ts";
import type { HostDecision } from "./host-window.ts";

const GOOD_MS = LIMITS.hostSuccessMs.value;
const TIMEOUTS_MS = [1_000, 2_000] as const;
/** If the limiter of a host cannot be called. */
export const UNKNOWN_WAIT_MS = 5_000;
const REPORT_INTERVAL_MS = 60_000;
const MAX_HOSTS = 1_000;

interface HostObject {
  ask(organizationId: string): Promise<HostDecision>;
  succeed(): Promise<void>;
}

export interface HostContext extends SystemContext {
  hostLimiters: ObjectNamespace<HostObject>;
  /** Continues after the batch. */
  waitUntil(promise: Promise<unknown>): void;
}

/** What an isolate knows of the hosts of webhooks, so that those that answer 2xx cost no calls. */
export class Hosts {
  readonly #goodUntil = new BoundedMap<string, number>(MAX_HOSTS);
  readonly #reportedAt = new BoundedMap<string, number>(MAX_HOSTS);

  /** Milliseconds until a request to this URL may be tried again; 0 if it may start. */
  async waitMs(ctx: HostContext, url: string, organizationId: string): Promise<number> {
    const { clock, hostLimiters, log, settings } = ctx;
    const host = hostOf(url);
    if (allowsInsecureWebhooks(settings) && isLoopback(host)) return 0;
    if ((this.#goodUntil.get(host) ?? 0) > clock.now()) return 0;
    try {
      const ask = (object: HostObject) => object.ask(organizationId);
      const { waitMs, goodForMs } = await callObject(hostLimiters, host, ask, {
        timeoutsMs: TIMEOUTS_MS,
      });
      if (goodForMs > 0) this.#goodUntil.set(host, clock.now() + goodForMs);
      return waitMs;
    } catch (error) {
      log("error", "host_limiter.unavailable", describeError(error));
      return UNKNOWN_WAIT_MS;
    }
  }

  /** A request to this URL was answered with 2xx. */
  succeed(ctx: HostContext, url: string): void {
    const host = hostOf(url);
    const now = ctx.clock.now();
    this.#goodUntil.set(host, now + GOOD_MS);
    if (now < (this.#reportedAt.get(host) ?? 0) + REPORT_INTERVAL_MS) return;
    this.#reportedAt.set(host, now);
    const report = (object: HostObject) => object.succeed();
    const reported = callObject(ctx.hostLimiters, host, report, { timeoutsMs: TIMEOUTS_MS });
    ctx.waitUntil(
      reported.catch((error: unknown) => {
        this.#reportedAt.delete(host);
        ctx.log("error", "host_limiter.unavailable", describeError(error));
      }),
    );
  }
}

/** All ports of a host are one. The URL parser has normalized its case and the notation of addresses. */
function hostOf(url: string): string {
  return new URL(url).hostname.replace(/\.+$/, "");
}
