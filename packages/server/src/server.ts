import { CommandError } from "./command-error.ts";
import { fullDiskNotice } from "./data/full-disk.ts";
import type { Networks } from "./http/client-address.ts";
import { Front } from "./http/front.ts";
import { explainListenError } from "./listening.ts";
import type { LogWriter } from "./log-writer.ts";
import { type MetricsServer, serveMetrics } from "./metrics/metrics-server.ts";
import { RequestMetrics } from "./metrics/request-metrics.ts";
import { parseEvent } from "./runtime/log-lines.ts";
import {
  type Runtime,
  type RuntimeLine,
  type RuntimeOptions,
  startRuntime,
} from "./runtime/runtime.ts";
import { startSchedule } from "./schedule.ts";

/** A request that runs when the server stops has this long. */
const DRAIN_WITHIN_MS = 20_000;

export interface ListenOptions {
  host: string;
  port: number;
  /** The address that people use. */
  url: URL;
  trustedProxies: Networks;
}

export interface WorkerOptions extends Omit<RuntimeOptions, "onLine" | "url"> {
  log: LogWriter;
  /** Levels of lines that are logged. */
  isLogged(level: string): boolean;
}

/** Listens for clients, and runs the Worker for them. */
export class Server {
  readonly #requests = new RequestMetrics();
  readonly #front: Front;
  readonly #url: URL;
  #runtime: Runtime | undefined;
  #stopSchedule: (() => void) | undefined;
  #metrics: MetricsServer | undefined;
  #isStopped = false;

  private constructor({ url, trustedProxies }: ListenOptions) {
    this.#url = url;
    const onResponse = this.#requests.countResponse.bind(this.#requests);
    this.#front = new Front({ url, trustedProxies, onResponse });
  }

  /** Clients are told to wait until the Worker runs. */
  static async listen(options: ListenOptions): Promise<Server> {
    const { host, port } = options;
    const server = new Server(options);
    try {
      await server.#front.listen(host, port);
    } catch (error) {
      await server.stop();
      explainListenError(error, { host, port, option: "port" });
    }
    return server;
  }

  /** Starts the Worker, whose database is migrated. */
  async run({ log, isLogged, ...options }: WorkerOptions): Promise<Runtime> {
    const explain = fullDiskNotice(options.state);
    const onLine = (line: RuntimeLine) => {
      const event = parseEvent(line);
      if (event) this.#requests.countEvent(event);
      if (!isLogged(line.level)) return;
      if (event) return log.event(event);
      const explained = explain(line);
      if (explained) log.line(explained.level, explained.message);
    };
    const runtime = await startRuntime({ ...options, url: this.#url, onLine });
    this.#runtime = runtime;
    if (this.#isStopped) {
      await runtime.stop();
      throw new CommandError("Stopped before the Worker ran.");
    }
    this.#front.open(runtime.requests);
    this.#stopSchedule = startSchedule(runtime);
    return runtime;
  }

  /** What Prometheus reads. */
  async renderMetrics(): Promise<string> {
    return (await this.#requests.render()) + ((await this.#runtime?.readGauges()) ?? "");
  }

  /** Serves them at a port of their own. */
  async serveMetrics(host: string, port: number): Promise<void> {
    this.#requests.collectProcess();
    this.#metrics = await serveMetrics(host, port, () => this.renderMetrics());
  }

  /** Ends what runs, and then workerd. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#front.drain(DRAIN_WITHIN_MS);
    this.#metrics?.close();
    this.#stopSchedule?.();
    await this.#runtime?.stop();
  }
}
