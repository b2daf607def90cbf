import type { Calls } from "./calls.ts";
import type { Edits } from "./edits.ts";
import type { People } from "./people.ts";
import type { Held, Runners } from "./runners.ts";

/** Sequences that single random steps would seldom make. */
export class Scenes {
  readonly #calls: Calls;
  readonly #people: People;
  readonly #edits: Edits;
  readonly #runners: Runners;

  constructor(calls: Calls, people: People, edits: Edits, runners: Runners) {
    this.#calls = calls;
    this.#people = people;
    this.#edits = edits;
    this.#runners = runners;
  }

  /** About when an offer lapses, or a runner is lost, something is heard before any sweep. */
  async comeBackLate(): Promise<void> {
    const { random } = this.#calls;
    const runners = this.#runners;
    this.#calls.pass((random.chance(0.5) ? 50_000 : 350_000) + random.below(20_000));
    const acts = [
      () => runners.start(),
      () => runners.heartbeat(),
      () => runners.report(),
      () => runners.complete(),
      () => runners.readVariables(),
    ];
    await random.pick(acts)?.();
  }

  /** Offers that nobody starts: sometimes so many that the deployment fails. */
  async neverStart(): Promise<void> {
    const runner = this.#calls.random.pick(this.#calls.stage.runners) ?? "";
    await this.#people.create();
    for (let offers = 3 + this.#calls.random.below(10); offers > 0; offers -= 1) {
      if (!(await this.#runners.claimAs(runner))) return;
      this.#calls.pass(60_000);
    }
  }

  /** A runner that says for longer than its pool allows that it lives. */
  async outlive(): Promise<void> {
    const held = await this.#offer();
    if (!held) return;
    await this.#runners.start(held);
    if (this.#calls.random.chance(0.3)) {
      await this.#edits.edit(held.claimed.deployment.environment_id);
    }
    for (let beats = this.#calls.random.below(5); beats > 0; beats -= 1) {
      this.#calls.pass(50_000 + this.#calls.random.below(20_000));
      await this.#runners.heartbeat(held);
      if (this.#calls.random.chance(0.2)) await this.#runners.claim();
    }
    if (this.#calls.random.chance(0.5)) await this.#runners.complete(held);
  }

  /** What waits is started on a configuration that somebody has changed, or changes right then. */
  async startWhileEdited(): Promise<void> {
    const { random } = this.#calls;
    const held = await this.#offer();
    if (!held) return;
    const environment = held.claimed.deployment.environment_id;
    if (random.chance(0.8)) await this.#edits.edit(environment);
    if (random.chance(0.5)) return this.#runners.carryOut(held);
    await Promise.all([
      this.#runners.start(held),
      random.chance(0.6) && this.#edits.undoInRace(environment),
      ...Array.from({ length: random.below(3) }, () => this.#edits.editInRace(environment)),
    ]);
  }

  /** Some that wait, of which the first change what the others are based on. */
  async carryOutInTurn(): Promise<void> {
    const { random, stage } = this.#calls;
    const environment = random.pick(stage.environments) ?? "";
    const many = 2 + random.below(3);
    for (let made = 0; made < many; made += 1) {
      await this.#people.create({ environment, queue: "fifo" });
    }
    for (let done = 0; done < many; done += 1) await this.#runners.carryOut();
  }

  /** An offer, of something new if possible. */
  async #offer(): Promise<Held | undefined> {
    const { random } = this.#calls;
    if (random.chance(0.2)) await this.#people.redeploy();
    else if (random.chance(0.9)) await this.#people.create();
    return this.#runners.claimAs(random.pick(this.#calls.stage.runners) ?? "");
  }
}
