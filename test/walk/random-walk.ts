import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { countWithin, LONG_MS } from "../effort.ts";
import { seededRandom } from "../support/random.ts";
import { ConfigurationActor } from "./configuration-actor.ts";
import { ConfigurationModel } from "./configuration-model.ts";
import { listUnmetEdges, recordEdges } from "./edges.ts";
import { newWalkFixture, VirtualTimeWorker, type WalkFixture } from "./fixture.ts";
import { describeBreaches, installInvariants, selectBreaches } from "./invariants.ts";
import { RunnerActor } from "./runner-actor.ts";
import { Scenarios } from "./scenarios.ts";
import { UserActor } from "./user-actor.ts";
import { WalkClient } from "./walk-client.ts";

const STEPS = 300;
/** Claims after which the queue must be empty. */
const MAXIMUM_CLAIMS = 200;
/** Fewer walks may miss a transition. */
const WALKS_FOR_ALL_EDGES = 20;

/** One random walk, determined by its seed. */
export class Walk {
  readonly #client: WalkClient;
  readonly #model: ConfigurationModel;
  readonly #user: UserActor;
  readonly #editor: ConfigurationActor;
  readonly #runners: RunnerActor;
  readonly #scenarios: Scenarios;
  #checkedCalls = 0;

  constructor(seed: number, worker: VirtualTimeWorker, fixture: WalkFixture) {
    this.#client = new WalkClient(seededRandom(seed), worker, fixture);
    this.#model = new ConfigurationModel(fixture.environments);
    this.#user = new UserActor(this.#client, this.#model);
    this.#editor = new ConfigurationActor(this.#client, this.#model);
    this.#runners = new RunnerActor(this.#client, this.#model);
    this.#scenarios = new Scenarios(this.#client, this.#user, this.#editor, this.#runners);
  }

  get log(): readonly string[] {
    return this.#client.log;
  }

  async run(steps: number): Promise<void> {
    const actions = this.#actions();
    for (let step = 0; step < steps; step += 1) {
      await this.#step(actions);
      await this.#expectNoBreach();
    }
    await this.#expectLostRunnersEnd();
    await this.#expectQueueDrains();
  }

  #actions(): [number, () => unknown][] {
    const { random } = this.#client;
    const user = this.#user;
    const editor = this.#editor;
    const runners = this.#runners;
    const scenarios = this.#scenarios;
    return [
      [10, () => user.create()],
      [3, () => Promise.all([user.create(), user.create()])],
      [2, () => user.redeploy()],
      [2, () => user.promote()],
      [6, () => user.cancel()],
      [1, () => user.disconnect()],
      [1, () => Promise.all([user.disconnect(), user.create()])],
      [8, () => user.connect()],
      [6, () => editor.edit()],
      [2, () => editor.draft()],
      [2, () => editor.sendDraft()],
      [1, () => editor.sendCycle()],
      [2, () => Promise.all([editor.editInRace(), runners.start()])],
      [2, () => Promise.all([editor.editInRace(), user.create()])],
      [2, () => Promise.all([editor.editInRace(), runners.complete()])],
      [18, () => runners.claim()],
      [4, () => runners.claimOne()],
      [4, () => runners.claimWaiting()],
      [3, () => runners.list()],
      [4, () => runners.claimAgain()],
      [18, () => runners.start()],
      [8, () => runners.heartbeat()],
      [4, () => runners.readVariables()],
      [14, () => runners.report()],
      [12, () => runners.complete()],
      [3, () => runners.completeTwice()],
      [6, () => runners.execute()],
      [2, () => runners.release()],
      [4, () => runners.callUnauthorized()],
      [2, () => Promise.all([user.cancel(), runners.complete()])],
      [2, () => Promise.all([runners.claim(), user.create(), runners.claim()])],
      [10, () => this.#client.advance(random.below(20_000))],
      [2, () => this.#client.advance(random.below(400_000))],
      [3, () => scenarios.callNearDeadline()],
      [2, () => scenarios.letOffersLapse()],
      [1, () => scenarios.releaseOffers()],
      [5, () => scenarios.exceedRunTimeout()],
      [8, () => scenarios.startDuringEdit()],
      [5, () => scenarios.executeInOrder()],
      [2, () => this.#sweep()],
      [3, () => scenarios.outliveFirstLease()],
    ];
  }

  async #step(actions: [number, () => unknown][]): Promise<void> {
    let ticket = this.#client.random.below(actions.reduce((sum, [weight]) => sum + weight, 0));
    for (const [weight, action] of actions) {
      ticket -= weight;
      if (ticket < 0) return void (await action());
    }
  }

  async #expectNoBreach(): Promise<void> {
    const { calls, fixture } = this.#client;
    if (calls === this.#checkedCalls) return;
    this.#checkedCalls = calls;
    const [found = [], log = [], ended = []] = (
      await env.DB.batch<ReturnType<typeof JSON.parse>>([
        selectBreaches(fixture),
        this.#model.selectLog(),
        this.#runners.selectEndedAlive(),
      ])
    ).map(({ results }) => results);
    const breaches = [
      ...describeBreaches(found),
      ...this.#model.check(log),
      ...ended.map(({ id }) => `a live run ends: ${id}`),
    ];
    if (breaches.length > 0) throw new Error(breaches.join("; "));
  }

  async #sweep(): Promise<void> {
    const { worker } = this.#client;
    await this.#client.sweep();
    const overdue = await this.#count(`status = 'canceling' and cancel_deadline <= ${worker.now}`);
    expect(overdue, "canceling after the deadline").toBe(0);
    const late = await this.#count(`status = 'in_progress' and exists (select 1 from attempts
      where deployment_id = deployments.id and state = 'running' and run_until <= ${worker.now})`);
    expect(late, "in progress after the time limit").toBe(0);
  }

  /** Without requests, no deployment stays active. */
  async #expectLostRunnersEnd(): Promise<void> {
    this.#client.advance(120_000);
    await this.#sweep();
    this.#client.advance(360_000);
    await this.#sweep();
    const left = await this.#count("status in ('in_progress', 'canceling')");
    expect(left, "active without requests").toBe(0);
  }

  /** One working runner empties the queue. */
  async #expectQueueDrains(): Promise<void> {
    const [runner = ""] = this.#client.fixture.runners;
    let claims = 0;
    while (claims < MAXIMUM_CLAIMS && (await this.#runners.executeNext(runner))) claims += 1;
    expect(await this.#count("status = 'queued'"), "still queued").toBe(0);
    expect(await this.#user.listOtherSources(), "another source").toEqual([]);
    expect(await this.#runners.listOtherOutputs(), "other outputs").toEqual([]);
    await this.#expectNoBreach();
  }

  async #count(condition: string): Promise<unknown> {
    return env.DB.prepare(
      `select count(*) as n from deployments where organization_id = ? and ${condition}`,
    )
      .bind(this.#client.fixture.worldId)
      .first("n");
  }
}

export function describeWalks(): void {
  describe("random requests of runners and users", () => {
    beforeAll(installInvariants);

    it(
      "keep the invariants, and meet every transition where the walks are enough",
      async () => {
        let walks = 0;
        for (const at of countWithin(env.EFFORT.walks)) {
          const seed = env.EFFORT.walkSeed + at;
          const worker = new VirtualTimeWorker();
          const walk = new Walk(seed, worker, await newWalkFixture(worker));
          try {
            await walk.run(STEPS);
            await recordEdges();
          } catch (error) {
            const last = walk.log.slice(-30).join("\n");
            throw new Error(`Walk ${seed} (EFFORT=walks=1,walkSeed=${seed}): ${error}\n${last}`);
          }
          walks += 1;
        }
        if (walks >= WALKS_FOR_ALL_EDGES) expect(listUnmetEdges()).toEqual([]);
      },
      LONG_MS,
    );
  });
}
