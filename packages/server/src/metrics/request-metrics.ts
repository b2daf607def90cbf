import { Counter, collectDefaultMetrics, Histogram, Registry } from "prom-client";
import type { WorkerEvent } from "../runtime/log-lines.ts";

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const MS = 1_000;
const EVENT_LOOP_PRECISION_MS = 100;
const RATE_LIMITED = 429;
/** `ratelimit: "NAME";r=0;t=5` */
const POLICY = /^"([^"]+)"/;

/** Metrics of this process, which no row of the database has. */
export class RequestMetrics {
  readonly #registry = new Registry();
  readonly #requests = new Counter({
    name: "longshore_requests_total",
    help: 'Requests by route, method and status. Static files have the route "asset".',
    labelNames: ["route", "method", "status"],
    registers: [this.#registry],
  });
  readonly #durations = new Histogram({
    name: "longshore_request_duration_seconds",
    help: "Time until the response begins, by route.",
    labelNames: ["route"],
    buckets: SECONDS,
    registers: [this.#registry],
  });
  readonly #refusals = new Counter({
    name: "longshore_rate_limited_total",
    help: "Requests that a rate limit has refused, by policy.",
    labelNames: ["policy"],
    registers: [this.#registry],
  });

  /** Also of the process itself. Its timer for the delay of the event loop is most of what an idle server does. */
  collectProcess(): void {
    collectDefaultMetrics({
      register: this.#registry,
      eventLoopMonitoringPrecision: EVENT_LOOP_PRECISION_MS,
    });
  }

  /** A request that the Worker has logged. */
  countEvent({ event, fields }: WorkerEvent): void {
    if (event !== "request") return;
    const { route = "none", method, status, duration_ms } = fields;
    const labels = { route: String(route), method: String(method), status: String(status) };
    this.#requests.inc(labels);
    this.#durations.observe({ route: labels.route }, Number(duration_ms) / MS);
  }

  /** A response that this process has passed on, of which only those without a log line are counted. */
  countResponse(
    method: string,
    { status, headers }: { status: number; headers: NodeJS.Dict<string | string[]> },
  ): void {
    if (status === RATE_LIMITED) {
      const [, policy = "address"] = POLICY.exec(String(headers["ratelimit"] ?? "")) ?? [];
      this.#refusals.inc({ policy });
    }
    if (headers["x-request-id"] !== undefined) return;
    const route = Object.keys(headers).length === 0 ? "none" : "asset";
    this.#requests.inc({ route, method, status: String(status) });
  }

  render(): Promise<string> {
    return this.#registry.metrics();
  }
}
