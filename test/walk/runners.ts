import { expect } from "vitest";
import type { Calls } from "./calls.ts";
import { expectHeard, expectStarted, isAfterEnd, listLive, readLease } from "./leases.ts";
import type { Ledger } from "./ledger.ts";
import type { Answer } from "./walk.ts";

/** What a runner knows of an attempt that it was given. */
export interface Held {
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
  /** The deployment as the first start gave it. */
  started?: Answer["body"];
}

/** What runners do on a walk, and what they may expect. */
export class Runners {
  readonly #calls: Calls;
  readonly #ledger: Ledger;
  readonly #held: Held[] = [];
  #requests = 0;

  constructor(calls: Calls, ledger: Ledger) {
    this.#calls = calls;
    this.#ledger = ledger;
  }

  async claim(): Promise<void> {
    const runner = this.#calls.random.pick(this.#calls.stage.runners);
    if (runner) await this.claimAs(runner);
  }

  async claimAs(runner: string): Promise<Held | undefined> {
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

  /** A runner that has lost what it knew of its attempts. */
  async list(): Promise<void> {
    const runner = this.#calls.random.pick(this.#calls.stage.runners) ?? "";
    const answer = await this.#calls.send(runner, "GET", "/v1/runner/attempts");
    const own = this.#held.filter((held) => held.runner === runner);
    const tokens = new Map(
      own.map(({ claimed }) => [claimed.attempt_id, claimed.lease_token] as const),
    );
    const live = await listLive([...tokens.keys()], this.#calls.worker.now);
    const listed: Answer["body"][] = answer.body.data;
    const found = listed.map((each) => [each.attempt_id, each.lease_token]).toSorted();
    const expected = live.map((id) => [id, tokens.get(id)]).toSorted();
    expect(found, "the live attempts of a token").toEqual(expected);
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
    const lease = await this.#leaseOf(held);
    const answer = await this.#post(held, "start");
    const { now } = this.#calls.worker;
    await expectStarted(lease, held.claimed.attempt_id, answer, now);
    if (answer.status === 200) {
      if (held.aliveAt === undefined) this.#expectOffered(held);
      else this.#expectAlive(held);
      held.aliveAt ??= now;
      this.#expectSameStart(held, answer.body.deployment);
    }
    this.#note(held, answer);
  }

  /** However often it starts, a runner is given the same patch. */
  #expectSameStart(held: Held, deployment: Answer["body"]): void {
    held.started ??= deployment;
    expect(deployment.id).toBe(held.claimed.deployment.id);
    expect(deployment.data.patch, "a start again").toEqual(held.started.data.patch);
    expect(deployment.started_at, "a start again").toBe(held.started.started_at);
    this.#ledger.acknowledgeStart(deployment.id, deployment.data.patch);
  }

  async heartbeat(held = this.#anyHeld()): Promise<void> {
    if (!held) return;
    const lease = await this.#leaseOf(held);
    const answer = await this.#post(held, "heartbeat");
    expectHeard(lease, answer);
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
    const before = await this.#leaseOf(held);
    const lease = { "lease-token": held.claimed.lease_token };
    const answer = await this.#calls.send(held.runner, "GET", path, undefined, lease);
    if (before.isFresh) expectHeard(before, answer);
    if (answer.status === 200) this.#expectAlive(held, 60_000);
    this.#note(held, answer);
  }

  async release(): Promise<void> {
    const held = this.#anyHeld();
    if (held) await this.#post(held, "release");
  }

  async report(held = this.#anyHeld(), stack?: string, good?: "succeeded"): Promise<void> {
    const { random } = this.#calls;
    const stackId = stack ?? random.pick<string>(held?.claimed.deployment.stack_ids ?? []);
    if (!held || !stackId) return;
    if (good || random.chance(0.8)) held.seq += 1;
    const seq = !good && random.chance(0.15) ? held.seq - 1 : held.seq;
    const statuses = ["in_progress", "succeeded", "succeeded", "succeeded", "failed", "skipped"];
    const path = `/v1/runner/attempts/${held.claimed.attempt_id}/stacks/${stackId}`;
    const body = { seq: Math.max(1, seq), status: good ?? random.pick(statuses) };
    const isLate = await isAfterEnd(held.claimed.attempt_id, stackId, body.seq);
    const before = await this.#leaseOf(held);
    const lease = { "lease-token": held.claimed.lease_token };
    const answer = await this.#calls.send(held.runner, "PUT", path, body, lease);
    if (!isLate) expectHeard(before, answer);
    if (answer.status === 200) this.#expectAlive(held);
    this.#note(held, answer);
  }

  async complete(held = this.#anyHeld(), isRace = false): Promise<void> {
    const { random } = this.#calls;
    if (!held) return;
    const lease = await this.#leaseOf(held);
    const outcome = random.pick(["succeeded", "succeeded", "failed", "canceled"]);
    const body = held.completed && random.chance(0.5) ? held.completed : { outcome };
    const answer = await this.#post(held, "complete", body);
    if (!isRace) expectHeard(lease, answer, "stop");
    if (held.completed && JSON.stringify(held.completed) === JSON.stringify(body)) {
      expect(answer.status, "a completion is not known again").toBe(200);
    }
    if (answer.status === 200 && !held.completed) this.#expectAlive(held);
    if (answer.status === 200) held.completed = body;
    else if (held.completed) expect(answer.status).toBe(409);
  }

  /** Two words at once, of which one counts. */
  async completeTwice(): Promise<void> {
    await Promise.all([this.complete(this.#anyHeld(), true), this.complete(this.#anyHeld(), true)]);
  }

  /** From the claim to the end, as most deployments go: else few would get so far as to succeed. */
  async carryOut(offer?: Held): Promise<void> {
    const { random } = this.#calls;
    const runner = random.pick(this.#calls.stage.runners) ?? "";
    const held = offer ?? (await this.claimAs(runner)) ?? this.#held.at(-1);
    if (!held) return;
    await this.start(held);
    const status = random.chance(0.7) ? "succeeded" : undefined;
    for (const stack of held.claimed.deployment.stack_ids) await this.report(held, stack, status);
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
    const held = await this.claimAs(runner);
    if (!held) return false;
    await this.start(held);
    if (!held.started) return true;
    expect((await this.#post(held, "complete", { outcome: "failed" })).status).toBe(200);
    return true;
  }

  #leaseOf({ claimed }: Held) {
    return readLease(claimed.attempt_id, this.#calls.worker.now);
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
