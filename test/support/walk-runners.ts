import { expect } from "vitest";
import type { Answer } from "./walk.ts";
import type { Calls } from "./walk-calls.ts";

interface Held {
  runner: string;
  requestId: string;
  claimed: Answer["body"];
  claimedAt: number;
  /** The body of its completion, once that was heard to succeed. */
  completed?: object;
  stopped: boolean;
  seq: number;
  /** When the server last heard that the runner lives; undefined before it has started. */
  aliveAt?: number;
}

/** What runners do on a walk, and what they may expect. */
export class Runners {
  readonly #calls: Calls;
  readonly #held: Held[] = [];
  #requests = 0;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  async claim(): Promise<void> {
    const runner = this.#calls.random.pick(this.#calls.stage.runners);
    if (runner) await this.#claimAs(runner);
  }

  async #claimAs(runner: string): Promise<Held | undefined> {
    this.#requests += 1;
    const requestId = `request ${this.#requests}`;
    const body = { request_id: requestId };
    const answer = await this.#calls.send(runner, "POST", "/v1/runner/claims", body);
    expect([200, 204]).toContain(answer.status);
    if (answer.status === 204) return undefined;
    const claimedAt = this.#calls.worker.now;
    const held = { runner, requestId, claimed: answer.body, claimedAt, stopped: false, seq: 0 };
    this.#held.push(held);
    return held;
  }

  async claimAgain(): Promise<void> {
    const held = this.#anyHeld();
    if (!held) return;
    const body = { request_id: held.requestId };
    const again = await this.#calls.send(held.runner, "POST", "/v1/runner/claims", body);
    expect(again.body.attempt_id).toBe(held.claimed.attempt_id);
    expect(again.body.lease_token).toBe(held.claimed.lease_token);
    this.#note(held, again);
  }

  async start(held = this.#anyHeld()): Promise<void> {
    if (!held) return;
    const answer = await this.#post(held, "start");
    if (answer.status === 200) {
      if (held.aliveAt === undefined) this.#expectOffered(held);
      else this.#expectAlive(held);
      held.aliveAt ??= this.#calls.worker.now;
    }
    this.#note(held, answer);
  }

  async heartbeat(): Promise<void> {
    const held = this.#anyHeld();
    if (!held) return;
    const answer = await this.#post(held, "heartbeat");
    if (answer.status === 200) {
      this.#expectAlive(held);
      held.aliveAt = this.#calls.worker.now;
    }
    this.#note(held, answer);
  }

  async readVariables(): Promise<void> {
    const held = this.#anyHeld();
    if (!held) return;
    const path = `/v1/runner/attempts/${held.claimed.attempt_id}/variables`;
    const lease = { "lease-token": held.claimed.lease_token };
    const answer = await this.#calls.send(held.runner, "GET", path, undefined, lease);
    if (answer.status === 200) this.#expectAlive(held, 60_000);
    this.#note(held, answer);
  }

  async release(): Promise<void> {
    const held = this.#anyHeld();
    if (held) await this.#post(held, "release");
  }

  async report(held = this.#anyHeld(), stack?: string): Promise<void> {
    const { random } = this.#calls;
    const stackId = stack ?? random.pick<string>(held?.claimed.deployment.stack_ids ?? []);
    if (!held || !stackId) return;
    if (random.chance(0.8)) held.seq += 1;
    const seq = random.chance(0.15) ? held.seq - 1 : held.seq;
    const statuses = ["in_progress", "succeeded", "succeeded", "succeeded", "failed", "skipped"];
    const path = `/v1/runner/attempts/${held.claimed.attempt_id}/stacks/${stackId}`;
    const body = { seq: Math.max(1, seq), status: random.pick(statuses) };
    const lease = { "lease-token": held.claimed.lease_token };
    const answer = await this.#calls.send(held.runner, "PUT", path, body, lease);
    if (answer.status === 200) this.#expectAlive(held);
    this.#note(held, answer);
  }

  async complete(held = this.#anyHeld()): Promise<void> {
    const { random } = this.#calls;
    if (!held) return;
    const outcome = random.pick(["succeeded", "succeeded", "failed", "canceled"]);
    const body = held.completed && random.chance(0.5) ? held.completed : { outcome };
    const answer = await this.#post(held, "complete", body);
    if (held.completed && JSON.stringify(held.completed) === JSON.stringify(body)) {
      expect(answer.status, "a completion is not known again").toBe(200);
    }
    if (answer.status === 200 && !held.completed) this.#expectAlive(held);
    if (answer.status === 200) held.completed = body;
    else if (held.completed) expect(answer.status).toBe(409);
  }

  /** From the claim to the end, as most deployments go: else few would get so far as to succeed. */
  async carryOut(): Promise<void> {
    const runner = this.#calls.random.pick(this.#calls.stage.runners) ?? "";
    const held = (await this.#claimAs(runner)) ?? this.#held.at(-1);
    if (!held) return;
    await this.start(held);
    for (const stack of held.claimed.deployment.stack_ids) await this.report(held, stack);
    await this.complete(held);
  }

  /** Somebody who was not given the attempt: with the wrong token, or of another pool. */
  async intrude(): Promise<void> {
    const { random, stage } = this.#calls;
    const held = this.#anyHeld();
    if (!held) return;
    const verb = random.pick(["start", "heartbeat", "complete", "release"]) ?? "start";
    const body = verb === "complete" ? { outcome: "succeeded" } : undefined;
    if (random.chance(0.5)) {
      const guessed = { ...held, claimed: { ...held.claimed, lease_token: "guessed" } };
      const answer = await this.#post(guessed, verb, body);
      expect([answer.status, answer.desired], "a guessed token").toEqual([409, "stop"]);
    } else {
      const at = stage.runners.indexOf(held.runner) + stage.runners.length / 2;
      const stranger = stage.runners[at % stage.runners.length] ?? "";
      const answer = await this.#post({ ...held, runner: stranger }, verb, body);
      expect([answer.status, answer.desired], "another pool").toEqual([404, "stop"]);
    }
  }

  /** A runner that works gets the next deployment to its end. Whether there was one. */
  async serveOne(runner: string): Promise<boolean> {
    const held = await this.#claimAs(runner);
    if (!held) return false;
    expect((await this.#post(held, "start")).status, "the start of an offer").toBe(200);
    expect((await this.#post(held, "complete", { outcome: "failed" })).status).toBe(200);
    return true;
  }

  #post(held: Held, verb: string, body?: object): Promise<Answer> {
    const path = `/v1/runner/attempts/${held.claimed.attempt_id}/${verb}`;
    const lease = { "lease-token": held.claimed.lease_token };
    return this.#calls.send(held.runner, "POST", path, body, lease);
  }

  #expectOffered({ claimedAt }: Held): void {
    const waited = this.#calls.worker.now - claimedAt;
    expect(waited, "an offer that lapsed was started").toBeLessThan(60_000);
  }

  /** What a runner says counts while it has started and is not lost, late sweeps or not. */
  #expectAlive({ aliveAt = Number.NEGATIVE_INFINITY }: Held, within = 360_000): void {
    const silence = this.#calls.worker.now - aliveAt;
    expect(silence, "a runner that is lost was heard").toBeLessThan(within);
  }

  /** A runner that was told to stop is never told otherwise. */
  #note(held: Held, { status, desired }: Answer): void {
    expect([200, 409]).toContain(status);
    expect(["continue", "cancel", "stop"]).toContain(desired);
    if (held.stopped) expect(desired, "told to stop, and then not").toBe("stop");
    held.stopped ||= desired === "stop";
  }

  /** Mostly one that may act; sometimes a zombie. */
  #anyHeld(): Held | undefined {
    const { random } = this.#calls;
    return random.pick(random.chance(0.75) ? this.#held.slice(-2) : this.#held);
  }
}
