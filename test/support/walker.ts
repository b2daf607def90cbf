import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { findBreaches, installInvariants } from "./invariants.ts";
import { type Answer, newStage, randomOf, type Stage, Timed } from "./walk.ts";

const STEPS = 300;
/** So many requests at the most until everything that waits has had its turn. */
const PATIENCE = 200;

interface Held {
  runner: string;
  requestId: string;
  claimed: Answer["body"];
  /** The body of its completion, once that was heard to succeed. */
  completed?: object;
  stopped: boolean;
  seq: number;
  /** When the server last heard that the runner lives; undefined before it has started. */
  aliveAt?: number;
}

/** One random walk. Everything that it does is decided by its seed. */
class Walk {
  readonly #random: ReturnType<typeof randomOf>;
  readonly #worker: Timed;
  readonly #stage: Stage;
  readonly #held: Held[] = [];
  readonly #deployments: string[] = [];
  readonly log: string[] = [];
  #requests = 0;

  constructor(seed: number, worker: Timed, stage: Stage) {
    this.#random = randomOf(seed);
    this.#worker = worker;
    this.#stage = stage;
  }

  async run(steps: number): Promise<void> {
    for (let step = 0; step < steps; step += 1) {
      await this.#step();
      const breaches = await findBreaches(this.#stage.worldId);
      if (breaches.length > 0) throw new Error(breaches.join("; "));
    }
    await this.#fallSilent();
    await this.#serveTheQueue();
  }

  async #step(): Promise<void> {
    const actions: [number, () => Promise<unknown>][] = [
      [10, () => this.#create()],
      [3, () => Promise.all([this.#create(), this.#create()])],
      [6, () => this.#cancel()],
      [18, () => this.#claim()],
      [4, () => this.#claimAgain()],
      [18, () => this.#start()],
      [8, () => this.#heartbeat()],
      [14, () => this.#report()],
      [12, () => this.#complete()],
      [3, () => Promise.all([this.#complete(), this.#complete()])],
      [2, () => this.#release()],
      [2, () => Promise.all([this.#cancel(), this.#complete()])],
      [2, () => Promise.all([this.#claim(), this.#create(), this.#claim()])],
      [10, async () => this.#pass(this.#random.below(20_000))],
      [2, async () => this.#pass(this.#random.below(400_000))],
      [2, () => this.#worker.sweep()],
    ];
    let ticket = this.#random.below(actions.reduce((sum, [weight]) => sum + weight, 0));
    for (const [weight, act] of actions) {
      ticket -= weight;
      if (ticket < 0) return void (await act());
    }
  }

  #pass(milliseconds: number): void {
    this.log.push(`${milliseconds} ms pass`);
    this.#worker.now += milliseconds;
  }

  /** Sends a request; sometimes its answer is lost, and it is sent again. */
  async #send(
    key: string,
    method: string,
    path: string,
    body?: object,
    headers?: Record<string, string>,
  ): Promise<Answer> {
    if (method !== "POST" || !path.endsWith("/deployments")) {
      if (this.#random.chance(0.15)) await this.#worker.call(key, method, path, body, headers);
    }
    const answer = await this.#worker.call(key, method, path, body, headers);
    const { code } = answer.body ?? {};
    this.log.push(`${method} ${path} ${JSON.stringify(body)}: ${answer.status} ${answer.desired}`);
    if (answer.status >= 500)
      throw new Error(`${method} ${path} answered ${answer.status} ${code}`);
    return answer;
  }

  async #create(): Promise<void> {
    const environment = this.#random.pick(this.#stage.environments);
    const body = {
      queue: this.#random.chance(0.4) ? "fifo" : "supersede",
      patch: [{ op: "add", path: "/v", value: this.#random.below(1_000_000) }],
    };
    const path = `/v1/environments/${environment}/deployments`;
    const { status, body: created } = await this.#send(this.#stage.key, "POST", path, body);
    expect(status).toBe(201);
    this.#deployments.push(created.id);
  }

  async #cancel(): Promise<void> {
    const id = this.#random.pick(this.#deployments.slice(-6));
    if (!id) return;
    const { status, body } = await this.#send(
      this.#stage.key,
      "PATCH",
      `/v1/deployments/${id}/cancel`,
    );
    expect([200, 409]).toContain(status);
    if (status === 200) expect(["canceling", "canceled"]).toContain(body.status);
  }

  async #claim(): Promise<void> {
    const runner = this.#random.pick(this.#stage.runners);
    if (!runner) return;
    this.#requests += 1;
    const requestId = `request ${this.#requests}`;
    const body = { request_id: requestId };
    const { status, body: claimed } = await this.#send(runner, "POST", "/v1/runner/claims", body);
    expect([200, 204]).toContain(status);
    if (status === 200) this.#held.push({ runner, requestId, claimed, stopped: false, seq: 0 });
  }

  async #claimAgain(): Promise<void> {
    const held = this.#anyHeld();
    if (!held) return;
    const body = { request_id: held.requestId };
    const again = await this.#send(held.runner, "POST", "/v1/runner/claims", body);
    expect(again.body.attempt_id).toBe(held.claimed.attempt_id);
    expect(again.body.lease_token).toBe(held.claimed.lease_token);
    this.#note(held, again);
  }

  async #start(): Promise<void> {
    const held = this.#anyHeld();
    if (!held) return;
    const answer = await this.#post(held, "start");
    if (answer.status === 200) held.aliveAt ??= this.#worker.now;
    this.#note(held, answer);
  }

  async #heartbeat(): Promise<void> {
    const held = this.#anyHeld();
    if (!held) return;
    const answer = await this.#post(held, "heartbeat");
    if (answer.status === 200) {
      this.#expectAlive(held);
      held.aliveAt = this.#worker.now;
    }
    this.#note(held, answer);
  }

  async #release(): Promise<void> {
    const held = this.#anyHeld();
    if (held) await this.#post(held, "release");
  }

  async #report(): Promise<void> {
    const held = this.#anyHeld();
    const stackId = this.#random.pick<string>(held?.claimed.deployment.stack_ids ?? []);
    if (!held || !stackId) return;
    if (this.#random.chance(0.8)) held.seq += 1;
    const statuses = ["in_progress", "succeeded", "succeeded", "succeeded", "failed", "skipped"];
    const path = `/v1/runner/attempts/${held.claimed.attempt_id}/stacks/${stackId}`;
    const body = { seq: Math.max(1, held.seq), status: this.#random.pick(statuses) };
    const lease = { "lease-token": held.claimed.lease_token };
    const answer = await this.#send(held.runner, "PUT", path, body, lease);
    if (answer.status === 200) this.#expectAlive(held);
    this.#note(held, answer);
  }

  async #complete(): Promise<void> {
    const held = this.#anyHeld();
    if (!held) return;
    const outcome = this.#random.pick(["succeeded", "succeeded", "failed", "canceled"]);
    const body = held.completed && this.#random.chance(0.5) ? held.completed : { outcome };
    const answer = await this.#post(held, "complete", body);
    if (held.completed && JSON.stringify(held.completed) === JSON.stringify(body)) {
      expect(answer.status).toBe(200);
    }
    if (answer.status === 200 && !held.completed) this.#expectAlive(held);
    if (answer.status === 200) held.completed = body;
    else if (held.completed) expect(answer.status).toBe(409);
  }

  #post(held: Held, verb: string, body?: object): Promise<Answer> {
    const path = `/v1/runner/attempts/${held.claimed.attempt_id}/${verb}`;
    const lease = { "lease-token": held.claimed.lease_token };
    return this.#send(held.runner, "POST", path, body, lease);
  }

  /** What a runner says counts while it has started and is not lost, late sweeps or not. */
  #expectAlive({ aliveAt = Number.NEGATIVE_INFINITY }: Held): void {
    expect(this.#worker.now - aliveAt, "a runner that is lost was heard").toBeLessThan(360_000);
  }

  /** A runner that was told to stop is never told otherwise. */
  #note(held: Held, { status, desired }: Answer): void {
    expect([200, 409]).toContain(status);
    expect(["continue", "cancel", "stop"]).toContain(desired);
    if (held.stopped) expect(desired).toBe("stop");
    held.stopped ||= desired === "stop";
  }

  /** Mostly one that may act; sometimes a zombie. */
  #anyHeld(): Held | undefined {
    return this.#random.pick(this.#random.chance(0.75) ? this.#held.slice(-2) : this.#held);
  }

  /** Nothing stays active once everyone is silent. */
  async #fallSilent(): Promise<void> {
    this.#pass(481_000);
    await this.#worker.sweep();
    const left = await this.#count("status in ('in_progress', 'canceling')");
    expect(left, "active while everyone is silent").toBe(0);
  }

  /** Nothing queued waits for ever: a runner that works gets to the end of it. */
  async #serveTheQueue(): Promise<void> {
    const [runner] = this.#stage.runners;
    if (!runner) throw new Error("There is a runner");
    for (let turn = 0; turn < PATIENCE; turn += 1) {
      const body = { request_id: `last ${turn}` };
      const { status, body: claimed } = await this.#send(runner, "POST", "/v1/runner/claims", body);
      if (status === 204) break;
      const held = { runner, requestId: "", claimed, stopped: false, seq: 0 };
      expect((await this.#post(held, "start")).status).toBe(200);
      expect((await this.#post(held, "complete", { outcome: "failed" })).status).toBe(200);
    }
    expect(await this.#count("status = 'queued'"), "queued for ever").toBe(0);
    expect(await findBreaches(this.#stage.worldId)).toEqual([]);
  }

  async #count(condition: string): Promise<unknown> {
    return env.DB.prepare(
      `select count(*) as n from deployments where organization_id = ? and ${condition}`,
    )
      .bind(this.#stage.worldId)
      .first("n");
  }
}

/** Half of the walks: two files of them run side by side. */
export function describeWalks(half: 0 | 1): void {
  describe("whatever runners and people do", () => {
    const all = Array.from({ length: Number(env.WALKS) }, (_, at) => Number(env.WALK_SEED) + at);
    const seeds = all.filter((_, at) => at % 2 === half);
    if (seeds.length === 0) it.skip("have no walk in this half", () => undefined);

    beforeAll(installInvariants);

    it.each(seeds)("the invariants hold on walk %i", async (seed) => {
      const worker = new Timed();
      const walk = new Walk(seed, worker, await newStage(worker));
      try {
        await walk.run(STEPS);
      } catch (error) {
        const last = walk.log.slice(-30).join("\n");
        throw new Error(`Walk ${seed} (WALK_SEED=${seed} WALKS=1): ${error}\n${last}`);
      }
    });
  });
}
