import type { Random } from "../support/random.ts";
import type { Reply, VirtualTimeWorker, WalkFixture } from "./fixture.ts";

/** Sends and logs the requests of one walk; the seed decides them. */
export class WalkClient {
  readonly random: Random;
  readonly worker: VirtualTimeWorker;
  readonly fixture: WalkFixture;
  readonly log: string[] = [];
  /** Requests and sweeps. */
  calls = 0;

  constructor(random: Random, worker: VirtualTimeWorker, fixture: WalkFixture) {
    this.random = random;
    this.worker = worker;
    this.fixture = fixture;
  }

  advance(milliseconds: number): void {
    this.log.push(`${milliseconds} ms later`);
    this.worker.now += milliseconds;
  }

  async sweep(): Promise<void> {
    this.log.push("sweep");
    this.calls += 1;
    await this.worker.sweep();
  }

  /** Sends a request exactly once. Used where a repetition would create another record. */
  async once(
    key: string,
    method: string,
    path: string,
    body?: object,
    headers?: Record<string, string>,
  ): Promise<Reply> {
    this.calls += 1;
    const reply = await this.worker.call(key, method, path, body, headers);
    this.log.push(`${method} ${path} ${JSON.stringify(body)}: ${reply.status} ${reply.directive}`);
    if (reply.status >= 500) {
      throw new Error(`${method} ${path} answered ${reply.status}: ${this.worker.unexpectedError}`);
    }
    return reply;
  }

  /** Sends a request, and sometimes repeats it as if the first reply was lost. */
  async send(
    key: string,
    method: string,
    path: string,
    body?: object,
    headers?: Record<string, string>,
  ): Promise<Reply> {
    if (this.random.chance(0.15)) await this.once(key, method, path, body, headers);
    return this.once(key, method, path, body, headers);
  }
}
