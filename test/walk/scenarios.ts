import type { ConfigurationActor } from "./configuration-actor.ts";
import type { ClaimedAttempt, RunnerActor } from "./runner-actor.ts";
import type { UserActor } from "./user-actor.ts";
import type { WalkClient } from "./walk-client.ts";

/** Sequences of requests that single random steps would seldom produce. */
export class Scenarios {
  readonly #client: WalkClient;
  readonly #user: UserActor;
  readonly #editor: ConfigurationActor;
  readonly #runners: RunnerActor;

  constructor(
    client: WalkClient,
    user: UserActor,
    editor: ConfigurationActor,
    runners: RunnerActor,
  ) {
    this.#client = client;
    this.#user = user;
    this.#editor = editor;
    this.#runners = runners;
  }

  /** Sends a request near the time that an offer lapses or a runner is lost, before any sweep. */
  async callNearDeadline(): Promise<void> {
    const { random } = this.#client;
    const runners = this.#runners;
    this.#client.advance((random.chance(0.5) ? 50_000 : 350_000) + random.below(20_000));
    const actions = [
      () => runners.start(),
      () => runners.heartbeat(),
      () => runners.report(),
      () => runners.complete(),
      () => runners.readVariables(),
    ];
    await random.pick(actions)?.();
  }

  /** Lets offers lapse, sometimes until the deployment fails. */
  async letOffersLapse(): Promise<void> {
    const runner = this.#client.random.pick(this.#client.fixture.runners) ?? "";
    await this.#user.create();
    for (let offers = 3 + this.#client.random.below(10); offers > 0; offers -= 1) {
      if (!(await this.#runners.claimAs(runner))) return;
      this.#client.advance(60_000);
    }
  }

  /** Releases offers, sometimes until the deployment fails. */
  async releaseOffers(): Promise<void> {
    const runner = this.#client.random.pick(this.#client.fixture.runners) ?? "";
    await this.#user.create();
    for (let offers = 15 + this.#client.random.below(15); offers > 0; offers -= 1) {
      const attempt = await this.#runners.claimAs(runner);
      if (!attempt) return;
      await this.#runners.release(attempt);
    }
  }

  /** Sends heartbeats, possibly past the time limit of the pool. */
  async exceedRunTimeout(): Promise<void> {
    const attempt = await this.#offer();
    if (!attempt) return;
    await this.#runners.start(attempt);
    if (this.#client.random.chance(0.3)) {
      await this.#editor.edit(attempt.claimed.deployment.environment_id);
    }
    for (let beats = this.#client.random.below(5); beats > 0; beats -= 1) {
      this.#client.advance(50_000 + this.#client.random.below(20_000));
      await this.#runners.heartbeat(attempt);
      if (this.#client.random.chance(0.2)) await this.#runners.claim();
    }
    if (this.#client.random.chance(0.5)) await this.#runners.complete(attempt);
  }

  /** Sends heartbeats in time until the lease of the start would have ended, or for longer. */
  async outliveFirstLease(): Promise<void> {
    const { random } = this.#client;
    const attempt = await this.#offer();
    if (!attempt) return;
    await this.#runners.start(attempt);
    for (let beats = 2 + random.below(3); beats > 0; beats -= 1) {
      this.#client.advance(180_000 + random.below(170_000));
      await this.#runners.heartbeat(attempt);
      if (random.chance(0.2)) await this.#client.sweep();
    }
    if (random.chance(0.5)) await this.#runners.complete(attempt);
  }

  /** Starts a queued deployment after, or during, an edit of the configuration. */
  async startDuringEdit(): Promise<void> {
    const { random } = this.#client;
    const attempt = await this.#offer();
    if (!attempt) return;
    const environment = attempt.claimed.deployment.environment_id;
    if (random.chance(0.8)) await this.#editor.edit(environment);
    if (random.chance(0.5)) return this.#runners.execute(attempt);
    await Promise.all([
      this.#runners.start(attempt),
      random.chance(0.6) && this.#editor.undoInRace(environment),
      ...Array.from({ length: random.below(3) }, () => this.#editor.editInRace(environment)),
    ]);
  }

  /** Executes queued deployments in order, each based on the result of the one before. */
  async executeInOrder(): Promise<void> {
    const { random, fixture } = this.#client;
    const environment = random.pick(fixture.environments) ?? "";
    const many = 2 + random.below(3);
    for (let made = 0; made < many; made += 1) {
      await this.#user.create({ environment, queue: "fifo" });
    }
    for (let done = 0; done < many; done += 1) await this.#runners.execute();
  }

  /** Claims an attempt, usually after creating a deployment. */
  async #offer(): Promise<ClaimedAttempt | undefined> {
    const { random } = this.#client;
    if (random.chance(0.2)) await this.#user.redeploy();
    else if (random.chance(0.9)) await this.#user.create();
    return this.#runners.claimAs(random.pick(this.#client.fixture.runners) ?? "");
  }
}
