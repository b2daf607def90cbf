import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { ConfigurationModel } from "./configuration-model.ts";
import type { Reply } from "./fixture.ts";
import {
  expectAccepted,
  expectStarted,
  isAfterEnd,
  isNewer,
  LOST_AFTER_MS,
  listLive,
  readLease,
  selectEndedAlive,
  VARIABLES_WITHIN_MS,
} from "./leases.ts";
import type { WalkClient } from "./walk-client.ts";

/** A runner's knowledge of an attempt that it claimed. */
export interface ClaimedAttempt {
  runner: string;
  requestId: string;
  claimed: Reply["body"];
  claimedAt: number;
  /** The body of the first completion that got 200. */
  completed?: object;
  stopped: boolean;
  seq: number;
  /** Time of the last accepted start or heartbeat. */
  aliveAt?: number;
  /** The deployment in the reply to the first start. */
  started?: Reply["body"];
}

/** Acts as all runners, and checks the replies that they get. */
export class RunnerActor {
  readonly #client: WalkClient;
  readonly #model: ConfigurationModel;
  readonly #attempts: ClaimedAttempt[] = [];
  /** Of the last success of each stack. */
  readonly #outputs = new Map<string, Record<string, string>>();
  #requests = 0;

  constructor(client: WalkClient, model: ConfigurationModel) {
    this.#client = client;
    this.#model = model;
  }

  async claim(): Promise<void> {
    const runner = this.#client.random.pick(this.#client.fixture.runners);
    if (runner) await this.claimAs(runner);
  }

  /** Of one deployment, as a CI job does. */
  async claimOne(): Promise<void> {
    const { random, fixture } = this.#client;
    const runner = random.pick(fixture.runners);
    const wanted = random.pick(await this.#listDeployments());
    if (!runner || !wanted) return;
    this.#requests += 1;
    const requestId = `request ${this.#requests}`;
    const body = { request_id: requestId, deployment_id: wanted };
    const reply = await this.#client.send(runner, "POST", "/v1/runner/claims", body);
    if (reply.status !== 200) return this.#expectNotClaimable(wanted, reply);
    expect(reply.body.deployment.id).toBe(wanted);
    this.#keep(runner, requestId, reply);
  }

  /**
   * A queued deployment says what it waits for, and can be claimed exactly if that is a runner alone that has
   * no offer of it yet. The sweep comes first, because a claim applies the time limits, too.
   */
  async claimWaiting(): Promise<void> {
    const { random, fixture } = this.#client;
    await this.#client.sweep();
    const id = random.pick(await this.#listDeployments());
    const [runner] = fixture.runners;
    if (!id || !runner) return;
    const { body } = await this.#client.send(fixture.key, "GET", `/v1/deployments/${id}`);
    const reasons: Reply["body"][] | undefined = body.waiting_for;
    expect(reasons !== undefined, "waits for something").toBe(body.status === "queued");
    if (!reasons) return;
    expect(reasons.length).toBeGreaterThan(0);
    const [first] = reasons;
    if (first.code === "deployment") await this.#expectBefore(first.deployment_id, id);
    const isNext = reasons.every(
      ({ code, message }) => code === "runner" && !/offered/.test(message),
    );
    this.#requests += 1;
    const requestId = `request ${this.#requests}`;
    const claim = { request_id: requestId, deployment_id: id };
    const reply = await this.#client.send(runner, "POST", "/v1/runner/claims", claim);
    expect(reply.status, "waits for a runner alone").toBe(isNext ? 200 : 204);
    if (isNext) this.#keep(runner, requestId, reply);
  }

  /** It is active, and older in the same environment. */
  async #expectBefore(earlier: string, id: string): Promise<void> {
    const found = await env.DB.prepare(
      `select earlier.id from deployments as earlier join deployments as later
          on later.environment_id = earlier.environment_id and later.number > earlier.number
        where earlier.id = ?1 and later.id = ?2
          and earlier.status in ('queued', 'in_progress', 'canceling')`,
    )
      .bind(earlier, id)
      .first("id");
    expect(found, "the deployment that is waited for").toBe(earlier);
  }

  /** In the order of their creation. */
  async #listDeployments(): Promise<string[]> {
    const { results } = await env.DB.prepare(
      "select id from deployments where organization_id = ? order by created_at, id",
    )
      .bind(this.#client.fixture.worldId)
      .all<{ id: string }>();
    // Most of the earlier ones have ended.
    return results.slice(-10).map(({ id }) => id);
  }

  /** It has ended, waits for its turn, or is in no environment of the pool. */
  async #expectNotClaimable(id: string, { status, body }: Reply): Promise<void> {
    const deployment = await env.DB.prepare("select status from deployments where id = ?")
      .bind(id)
      .first("status");
    if (status === 409) expect(body.cause).toEqual({ status: deployment });
    else expect([204, 404]).toContain(status);
    if (status === 204) expect(["queued", "in_progress", "canceling"]).toContain(deployment);
  }

  async claimAs(runner: string): Promise<ClaimedAttempt | undefined> {
    this.#requests += 1;
    const requestId = `request ${this.#requests}`;
    const body = { request_id: requestId };
    const reply = await this.#client.send(runner, "POST", "/v1/runner/claims", body);
    expect([200, 204]).toContain(reply.status);
    if (reply.status === 204) return undefined;
    return this.#keep(runner, requestId, reply);
  }

  #keep(runner: string, requestId: string, { body: claimed }: Reply): ClaimedAttempt {
    const claimedAt = this.#client.worker.now;
    const attempt = { runner, requestId, claimed, claimedAt, stopped: false, seq: 0 };
    this.#attempts.push(attempt);
    return attempt;
  }

  /** Lists live attempts, as a restarted runner does. */
  async list(): Promise<void> {
    const runner = this.#client.random.pick(this.#client.fixture.runners) ?? "";
    const reply = await this.#client.send(runner, "GET", "/v1/runner/attempts");
    const own = this.#attempts.filter((attempt) => attempt.runner === runner);
    const tokens = new Map(
      own.map(({ claimed }) => [claimed.attempt_id, claimed.lease_token] as const),
    );
    const live = await listLive([...tokens.keys()], this.#client.worker.now);
    const listed: Reply["body"][] = reply.body.data;
    const found = listed.map((each) => [each.attempt_id, each.lease_token]).toSorted();
    const expected = live.map((id) => [id, tokens.get(id)]).toSorted();
    expect(found, "the live attempts of a token").toEqual(expected);
  }

  async claimAgain(): Promise<void> {
    const attempt = this.#anyAttempt();
    if (!attempt) return;
    const body = { request_id: attempt.requestId };
    const again = await this.#client.send(attempt.runner, "POST", "/v1/runner/claims", body);
    expect(again.body.attempt_id).toBe(attempt.claimed.attempt_id);
    expect(again.body.lease_token).toBe(attempt.claimed.lease_token);
    this.#checkDirective(attempt, again);
  }

  async start(attempt = this.#anyAttempt()): Promise<void> {
    if (!attempt) return;
    const lease = await this.#leaseOf(attempt);
    const reply = await this.#post(attempt, "start");
    const { now } = this.#client.worker;
    await expectStarted(lease, attempt.claimed.attempt_id, reply, now);
    if (reply.status === 200) {
      if (attempt.aliveAt === undefined) this.#expectOffered(attempt);
      else this.#expectAlive(attempt);
      attempt.aliveAt ??= now;
      this.#expectSameStart(attempt, reply.body.deployment);
    }
    this.#checkDirective(attempt, reply);
  }

  /** Every start of an attempt returns the same patch. */
  #expectSameStart(attempt: ClaimedAttempt, deployment: Reply["body"]): void {
    attempt.started ??= deployment;
    expect(deployment.id).toBe(attempt.claimed.deployment.id);
    expect(deployment.data.patch, "a start again").toEqual(attempt.started.data.patch);
    expect(deployment.started_at, "a start again").toBe(attempt.started.started_at);
    this.#model.recordStart(deployment.id, deployment.data.patch);
  }

  async heartbeat(attempt = this.#anyAttempt()): Promise<void> {
    if (!attempt) return;
    const lease = await this.#leaseOf(attempt);
    const reply = await this.#post(attempt, "heartbeat");
    expectAccepted(lease, reply);
    if (reply.status === 200) {
      this.#expectAlive(attempt);
      attempt.aliveAt = this.#client.worker.now;
    }
    this.#checkDirective(attempt, reply);
  }

  async readVariables(): Promise<void> {
    const attempt = this.#anyAttempt();
    if (!attempt) return;
    const path = `/v1/runner/attempts/${attempt.claimed.attempt_id}/variables`;
    const before = await this.#leaseOf(attempt);
    const lease = { "lease-token": attempt.claimed.lease_token };
    const reply = await this.#client.send(attempt.runner, "GET", path, undefined, lease);
    if (before.isFresh) expectAccepted(before, reply);
    if (reply.status === 200) this.#expectAlive(attempt, VARIABLES_WITHIN_MS);
    this.#checkDirective(attempt, reply);
  }

  async release(attempt = this.#anyAttempt()): Promise<void> {
    if (attempt) await this.#post(attempt, "release");
  }

  async report(attempt = this.#anyAttempt(), stack?: string, good?: "succeeded"): Promise<void> {
    const { random } = this.#client;
    const stackId = stack ?? random.pick<string>(attempt?.claimed.deployment.stack_ids ?? []);
    if (!attempt || !stackId) return;
    if (good || random.chance(0.8)) attempt.seq += 1;
    const seq = !good && random.chance(0.15) ? attempt.seq - 1 : attempt.seq;
    const statuses = ["in_progress", "succeeded", "succeeded", "succeeded", "failed", "skipped"];
    const path = `/v1/runner/attempts/${attempt.claimed.attempt_id}/stacks/${stackId}`;
    const body = {
      ...{ seq: Math.max(1, seq), status: good ?? random.pick(statuses) },
      ...(random.chance(0.5) && { outputs: [{ name: "version", value: `v${this.#requests}` }] }),
    };
    const isLate = await isAfterEnd(attempt.claimed.attempt_id, stackId, body.seq);
    const isNew = !isLate && (await isNewer(attempt.claimed.attempt_id, stackId, body.seq));
    const before = await this.#leaseOf(attempt);
    const lease = { "lease-token": attempt.claimed.lease_token };
    const reply = await this.#client.send(attempt.runner, "PUT", path, body, lease);
    if (!isLate) expectAccepted(before, reply);
    if (reply.status === 200) this.#expectAlive(attempt);
    if (reply.status === 200 && isNew && body.status === "succeeded") {
      const outputs = body.outputs?.map(({ name, value }) => [name, value]) ?? [];
      this.#outputs.set(stackId, Object.fromEntries(outputs));
    }
    this.#checkDirective(attempt, reply);
  }

  /** The stacks whose outputs are not those of their last success. */
  async listOtherOutputs(): Promise<string[]> {
    const { environments } = this.#client.fixture;
    const { results } = await env.DB.prepare(
      "select id, outputs from stacks where environment_id in (select value from json_each(?))",
    )
      .bind(JSON.stringify(environments))
      .all<{ id: string; outputs: string }>();
    return results.flatMap(({ id, outputs }) => {
      const expected = JSON.stringify(this.#outputs.get(id) ?? {});
      return outputs === expected ? [] : [`${id}: ${outputs} is not ${expected}`];
    });
  }

  async complete(attempt = this.#anyAttempt(), isRace = false): Promise<void> {
    const { random } = this.#client;
    if (!attempt) return;
    const lease = await this.#leaseOf(attempt);
    const outcome = random.pick(["succeeded", "succeeded", "failed", "canceled"]);
    const body = attempt.completed && random.chance(0.5) ? attempt.completed : { outcome };
    const reply = await this.#post(attempt, "complete", body);
    if (!isRace) expectAccepted(lease, reply, "stop");
    if (attempt.completed && JSON.stringify(attempt.completed) === JSON.stringify(body)) {
      expect(reply.status, "a repeated completion is rejected").toBe(200);
    }
    if (reply.status === 200 && !attempt.completed) this.#expectAlive(attempt);
    if (reply.status === 200) attempt.completed = body;
    else if (attempt.completed) expect(reply.status).toBe(409);
  }

  /** Two completions in a race. */
  async completeTwice(): Promise<void> {
    await Promise.all([
      this.complete(this.#anyAttempt(), true),
      this.complete(this.#anyAttempt(), true),
    ]);
  }

  /** Runs a deployment from claim to completion. Random single steps would seldom succeed. */
  async execute(offer?: ClaimedAttempt): Promise<void> {
    const { random } = this.#client;
    const runner = random.pick(this.#client.fixture.runners) ?? "";
    const attempt = offer ?? (await this.claimAs(runner)) ?? this.#attempts.at(-1);
    if (!attempt) return;
    await this.start(attempt);
    const status = random.chance(0.7) ? "succeeded" : undefined;
    for (const stack of attempt.claimed.deployment.stack_ids)
      await this.report(attempt, stack, status);
    await this.complete(attempt);
  }

  /** Uses a wrong lease token, or a runner of another pool. */
  async callUnauthorized(): Promise<void> {
    const { random, fixture } = this.#client;
    const attempt = this.#anyAttempt();
    if (!attempt) return;
    const verb = random.pick(["start", "heartbeat", "complete", "release"]) ?? "start";
    const body = verb === "complete" ? { outcome: "succeeded" } : undefined;
    if (random.chance(0.5)) {
      const guessed = { ...attempt, claimed: { ...attempt.claimed, lease_token: "guessed" } };
      const reply = await this.#post(guessed, verb, body);
      expect([reply.status, reply.directive], "a guessed token").toEqual([409, "stop"]);
    } else {
      const at = fixture.runners.indexOf(attempt.runner) + fixture.runners.length / 2;
      const other = fixture.runners[at % fixture.runners.length] ?? "";
      const reply = await this.#post({ ...attempt, runner: other }, verb, body);
      expect([reply.status, reply.directive], "another pool").toEqual([404, "stop"]);
    }
  }

  /** Completes the next queued deployment; false if there is none. */
  async executeNext(runner: string): Promise<boolean> {
    const attempt = await this.claimAs(runner);
    if (!attempt) return false;
    await this.start(attempt);
    if (!attempt.started) return true;
    expect((await this.#post(attempt, "complete", { outcome: "failed" })).status).toBe(200);
    return true;
  }

  /** Finds runs that ended although their runners called in time. */
  selectEndedAlive(): D1PreparedStatement {
    const started = this.#attempts.flatMap(({ claimed, aliveAt }) =>
      aliveAt === undefined ? [] : [{ id: claimed.attempt_id, aliveAt }],
    );
    return selectEndedAlive(started);
  }

  #leaseOf({ claimed, aliveAt }: ClaimedAttempt) {
    return readLease(claimed.attempt_id, this.#client.worker.now, aliveAt);
  }

  #post(attempt: ClaimedAttempt, verb: string, body?: object): Promise<Reply> {
    const path = `/v1/runner/attempts/${attempt.claimed.attempt_id}/${verb}`;
    const lease = { "lease-token": attempt.claimed.lease_token };
    return this.#client.send(attempt.runner, "POST", path, body, lease);
  }

  #expectOffered({ claimedAt }: ClaimedAttempt): void {
    const waited = this.#client.worker.now - claimedAt;
    expect(waited, "a lapsed offer was started").toBeLessThan(60_000);
  }

  /** Requests are accepted only until the runner counts as lost, even before the next sweep. */
  #expectAlive(
    { aliveAt = Number.NEGATIVE_INFINITY }: ClaimedAttempt,
    within = LOST_AFTER_MS,
  ): void {
    const silence = this.#client.worker.now - aliveAt;
    expect(silence, "a request of a lost runner was accepted").toBeLessThan(within);
  }

  /** After a stop directive, a runner never gets another directive. */
  #checkDirective(attempt: ClaimedAttempt, { status, directive }: Reply): void {
    expect([200, 409]).toContain(status);
    expect(["continue", "cancel", "stop"]).toContain(directive);
    if (attempt.stopped) expect(directive, "another directive after stop").toBe("stop");
    attempt.stopped ||= directive === "stop";
  }

  /** Usually one of the newest attempts; sometimes one that has ended. */
  #anyAttempt(): ClaimedAttempt | undefined {
    const { random } = this.#client;
    return random.pick(random.chance(0.75) ? this.#attempts.slice(-2) : this.#attempts);
  }
}
