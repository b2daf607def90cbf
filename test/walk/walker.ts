import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { Calls } from "./calls.ts";
import { listUnmetEdges, noteEdges } from "./edges.ts";
import { Edits } from "./edits.ts";
import { findBreaches, installInvariants } from "./invariants.ts";
import { Ledger } from "./ledger.ts";
import { People } from "./people.ts";
import { Runners } from "./runners.ts";
import { Scenes } from "./scenes.ts";
import { newStage, randomOf, type Stage, Timed } from "./walk.ts";

const STEPS = 300;
/** So many requests at the most until everything that waits has had its turn. */
const PATIENCE = 200;

/** Fewer walks in a file may miss a transition. */
const ENOUGH_WALKS = 20;

/** One random walk. Everything that it does is decided by its seed. */
class Walk {
  readonly #calls: Calls;
  readonly #ledger: Ledger;
  readonly #people: People;
  readonly #edits: Edits;
  readonly #runners: Runners;
  readonly #scenes: Scenes;

  constructor(seed: number, worker: Timed, stage: Stage) {
    this.#calls = new Calls(randomOf(seed), worker, stage);
    this.#ledger = new Ledger(stage.environments);
    this.#people = new People(this.#calls, this.#ledger);
    this.#edits = new Edits(this.#calls, this.#ledger);
    this.#runners = new Runners(this.#calls, this.#ledger);
    this.#scenes = new Scenes(this.#calls, this.#people, this.#edits, this.#runners);
  }

  get log(): readonly string[] {
    return this.#calls.log;
  }

  async run(steps: number): Promise<void> {
    const actions = this.#actions();
    for (let step = 0; step < steps; step += 1) {
      await this.#step(actions);
      await this.#expectNoBreach();
    }
    await this.#fallSilent();
    await this.#serveTheQueue();
  }

  #actions(): [number, () => unknown][] {
    const { random } = this.#calls;
    const people = this.#people;
    const edits = this.#edits;
    const runners = this.#runners;
    const scenes = this.#scenes;
    return [
      [10, () => people.create()],
      [3, () => Promise.all([people.create(), people.create()])],
      [2, () => people.redeploy()],
      [2, () => people.promote()],
      [6, () => people.cancel()],
      [1, () => people.disconnect()],
      [1, () => Promise.all([people.disconnect(), people.create()])],
      [8, () => people.connect()],
      [6, () => edits.edit()],
      [2, () => edits.draft()],
      [2, () => edits.sendDraft()],
      [2, () => Promise.all([edits.editInRace(), runners.start()])],
      [2, () => Promise.all([edits.editInRace(), people.create()])],
      [2, () => Promise.all([edits.editInRace(), runners.complete()])],
      [18, () => runners.claim()],
      [3, () => runners.list()],
      [4, () => runners.claimAgain()],
      [18, () => runners.start()],
      [8, () => runners.heartbeat()],
      [4, () => runners.readVariables()],
      [14, () => runners.report()],
      [12, () => runners.complete()],
      [3, () => runners.completeTwice()],
      [6, () => runners.carryOut()],
      [2, () => runners.release()],
      [4, () => runners.intrude()],
      [2, () => Promise.all([people.cancel(), runners.complete()])],
      [2, () => Promise.all([runners.claim(), people.create(), runners.claim()])],
      [10, () => this.#calls.pass(random.below(20_000))],
      [2, () => this.#calls.pass(random.below(400_000))],
      [3, () => scenes.comeBackLate()],
      [2, () => scenes.neverStart()],
      [5, () => scenes.outlive()],
      [8, () => scenes.startWhileEdited()],
      [5, () => scenes.carryOutInTurn()],
      [2, () => this.#sweep()],
    ];
  }

  async #step(actions: [number, () => unknown][]): Promise<void> {
    let ticket = this.#calls.random.below(actions.reduce((sum, [weight]) => sum + weight, 0));
    for (const [weight, act] of actions) {
      ticket -= weight;
      if (ticket < 0) return void (await act());
    }
  }

  async #expectNoBreach(): Promise<void> {
    const found = await findBreaches(this.#calls.stage.worldId);
    const breaches = [...found, ...(await this.#ledger.check())];
    if (breaches.length > 0) throw new Error(breaches.join("; "));
  }

  async #sweep(): Promise<void> {
    const { worker, log } = this.#calls;
    log.push("sweep");
    await worker.sweep();
    const overdue = await this.#count(`status = 'canceling' and cancel_deadline <= ${worker.now}`);
    expect(overdue, "canceling beyond the deadline").toBe(0);
    const late = await this.#count(`status = 'in_progress' and exists (select 1 from attempts
      where deployment_id = deployments.id and state = 'running' and run_until <= ${worker.now})`);
    expect(late, "a run goes on beyond its time").toBe(0);
  }

  /** Nothing stays active once everyone is silent. */
  async #fallSilent(): Promise<void> {
    this.#calls.pass(120_000);
    await this.#sweep();
    this.#calls.pass(360_000);
    await this.#sweep();
    const left = await this.#count("status in ('in_progress', 'canceling')");
    expect(left, "active while everyone is silent").toBe(0);
  }

  /** Nothing queued waits for ever: a runner that works gets to the end of it. */
  async #serveTheQueue(): Promise<void> {
    const [runner = ""] = this.#calls.stage.runners;
    let turns = 0;
    while (turns < PATIENCE && (await this.#runners.serveOne(runner))) turns += 1;
    expect(await this.#count("status = 'queued'"), "queued for ever").toBe(0);
    await this.#expectNoBreach();
  }

  async #count(condition: string): Promise<unknown> {
    return env.DB.prepare(
      `select count(*) as n from deployments where organization_id = ? and ${condition}`,
    )
      .bind(this.#calls.stage.worldId)
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
        await noteEdges();
      } catch (error) {
        const last = walk.log.slice(-30).join("\n");
        throw new Error(`Walk ${seed} (WALK_SEED=${seed} WALKS=1): ${error}\n${last}`);
      }
    });

    it.runIf(seeds.length >= ENOUGH_WALKS)("every transition happens on some walk", () => {
      expect(listUnmetEdges()).toEqual([]);
    });
  });
}
