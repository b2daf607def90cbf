import type { Answer, randomOf, Stage, Timed } from "./walk.ts";

/** The requests of one walk, which its seed decides, and the record of them. */
export class Calls {
  readonly random: ReturnType<typeof randomOf>;
  readonly worker: Timed;
  readonly stage: Stage;
  readonly log: string[] = [];

  constructor(random: ReturnType<typeof randomOf>, worker: Timed, stage: Stage) {
    this.random = random;
    this.worker = worker;
    this.stage = stage;
  }

  pass(milliseconds: number): void {
    this.log.push(`${milliseconds} ms pass`);
    this.worker.now += milliseconds;
  }

  /** Sends a request once: for one that makes something new each time. */
  async once(
    key: string,
    method: string,
    path: string,
    body?: object,
    headers?: Record<string, string>,
  ): Promise<Answer> {
    const answer = await this.worker.call(key, method, path, body, headers);
    this.log.push(`${method} ${path} ${JSON.stringify(body)}: ${answer.status} ${answer.desired}`);
    if (answer.status >= 500) {
      throw new Error(`${method} ${path} answered ${answer.status}: ${this.worker.unforeseen}`);
    }
    return answer;
  }

  /** Sends a request; sometimes its answer is lost, and it is sent again. */
  async send(
    key: string,
    method: string,
    path: string,
    body?: object,
    headers?: Record<string, string>,
  ): Promise<Answer> {
    if (this.random.chance(0.15)) await this.once(key, method, path, body, headers);
    return this.once(key, method, path, body, headers);
  }
}
