import { expect } from "vitest";
import type { Random } from "../support/random.ts";
import type { Reply } from "./fixture.ts";
import { ProtectedRunner } from "./protected-runner.ts";
import { ProtectedScene } from "./protected-scene.ts";
import { ProtectedSettings } from "./protected-settings.ts";
import type { WalkDeployment, WalkPerson } from "./protection-model.ts";

const HOUR_MS = 3_600_000;
const CODES = ["approvals", "from", "window", "freeze"];
const MAXIMUM_TURNS = 60;

/** One random walk of people and a runner in two protected environments, determined by its seed. */
export class ProtectedWalk {
  readonly #scene: ProtectedScene;
  readonly #settings: ProtectedSettings;
  readonly #runner: ProtectedRunner;

  constructor(random: Random) {
    this.#scene = new ProtectedScene(random);
    this.#settings = new ProtectedSettings(this.#scene);
    this.#runner = new ProtectedRunner(this.#scene);
  }

  get log(): readonly string[] {
    return this.#scene.log;
  }

  get starts() {
    return this.#runner.starts;
  }

  async run(steps: number): Promise<void> {
    await this.#scene.prepare();
    const actions: [number, () => Promise<unknown>][] = [
      [12, () => this.#create()],
      [6, () => this.#redeploy()],
      [4, () => this.#promote()],
      [4, () => this.#create(undefined, undefined, true)],
      [5, () => this.#settings.changeStack()],
      [3, () => this.#settings.connect()],
      [3, () => this.#settings.replaceEnvironment()],
      [8, () => this.#settings.changeRules()],
      [20, () => this.#decide("approve")],
      [2, () => this.#decide("reject")],
      [5, () => this.#settings.changePerson()],
      [6, () => this.#settings.edit()],
      [3, () => this.#settings.freeze()],
      [3, () => this.#settings.thaw()],
      [4, () => this.#override()],
      [14, () => this.#runner.claim()],
      [14, () => this.#runner.start()],
      [12, () => this.#runner.complete()],
      [8, () => this.#scene.advance(this.#scene.random.below(120_000))],
      [6, () => this.#scene.advance(this.#scene.random.below(8 * HOUR_MS))],
      [1, () => this.#scene.restart()],
      [6, () => this.#changeAfterApprovals()],
      [3, () => this.#changeAfterRedeployment()],
      [3, () => this.#changeAfterSuccess()],
      [8, () => this.#expectNothingWaits()],
    ];
    for (let step = 0; step < steps; step += 1) {
      await this.#step(actions);
      await this.#scene.sync();
    }
    await this.#expectEverythingStarts();
  }

  async #step(actions: [number, () => Promise<unknown>][]): Promise<void> {
    let ticket = this.#scene.random.below(actions.reduce((sum, [weight]) => sum + weight, 0));
    for (const [weight, action] of actions) {
      ticket -= weight;
      if (ticket < 0) return void (await action());
    }
  }

  async #create(
    environment = this.#scene.anyEnvironment(),
    queue = this.#scene.random.chance(0.5) ? "fifo" : "supersede",
    isOfTrust = false,
  ): Promise<WalkDeployment | undefined> {
    const isEmpty = this.#scene.random.chance(0.3);
    const set = isEmpty ? {} : { [`k${this.#scene.random.below(3)}`]: this.#scene.random.below(3) };
    const patch = Object.entries(set).map(([name, value]) => ({
      op: "add",
      path: `/${name}`,
      value,
    }));
    const source = { registry: { image: `ghcr.io/acme/shop:${this.#scene.random.below(2)}` } };
    const stacks = this.#scene.model.environmentOf(environment).stacks;
    const stack_ids = [...stacks.keys()].filter(
      (_, at) => at === 0 || this.#scene.random.chance(0.6),
    );
    const creator = this.#scene.random.pick(this.#listCreators(isOfTrust));
    if (!creator) return undefined;
    const { membershipId } = creator;
    const key = isOfTrust
      ? await this.#scene.trusts.exchange(membershipId, this.#scene.worker.now)
      : creator.key;
    const path = `/v1/environments/${environment}/deployments`;
    const reply = await this.#scene.call(key, "POST", path, { patch, source, stack_ids, queue });
    expect(reply.status).toBe(201);
    const change = { set };
    this.#created(reply, {
      environment,
      creator: membershipId,
      change,
      source: JSON.stringify(source),
    });
    return this.#scene.model.of(reply.body.id);
  }

  /** Who has made a trust is a creator of what its key deploys, whatever this person may do by now. */
  #listCreators(isOfTrust: boolean): WalkPerson[] {
    return this.#scene.people.filter(
      ({ isOrganizationOwner, role }) =>
        isOfTrust || isOrganizationOwner || role === "owner" || role === "contributor",
    );
  }

  #created(
    { body }: Reply,
    requested: Pick<WalkDeployment, "environment" | "creator" | "change" | "source"> &
      Partial<Pick<WalkDeployment, "exempt" | "repeated">>,
  ): void {
    this.#scene.model.deployments.set(body.id, {
      ...{ id: body.id, createdAt: this.#scene.worker.now, stackIds: body.stack_ids },
      ...{ exempt: undefined, repeated: undefined, ...requested },
      ...{ kept: [], approvals: new Map(), override: undefined, status: "queued" },
      ...{ start: undefined, finishedAt: undefined },
    });
  }

  #anySuccess(): WalkDeployment | undefined {
    const all = [...this.#scene.model.deployments.values()].filter(
      ({ status, environment }) =>
        status === "succeeded" && this.#scene.model.environments.has(environment),
    );
    return this.#scene.random.pick(all.slice(-5));
  }

  async #redeploy(repeated = this.#anySuccess()): Promise<WalkDeployment | undefined> {
    if (!repeated?.start) return undefined;
    const exempt = this.#scene.model.exemptionOf(repeated.id);
    const path = `/v1/deployments/${repeated.id}/redeploy`;
    const reply = await this.#scene.call(this.#scene.owner, "POST", path);
    expect([reply.status, reply.body.exempt]).toEqual([201, exempt]);
    const change = { fixed: repeated.start.configuration };
    const { environment, source } = repeated;
    const creator = this.#scene.world.membershipId;
    this.#created(reply, { environment, creator, change, source, exempt, repeated });
    return this.#scene.model.of(reply.body.id);
  }

  async #promote(): Promise<void> {
    const copied = this.#anySuccess();
    if (!copied?.start) return;
    const environment = this.#scene.anyEnvironment();
    const body = { environment_id: environment };
    const path = `/v1/deployments/${copied.id}/promote`;
    const reply = await this.#scene.call(this.#scene.owner, "POST", path, body);
    expect(reply.status).toBe(201);
    const change = { fixed: copied.start.configuration };
    const creator = this.#scene.world.membershipId;
    this.#created(reply, { environment, creator, change, source: copied.source });
  }

  /** Single random steps seldom change something between the last approval and the start. */
  async #changeAfterApprovals(): Promise<void> {
    const environment = this.#scene.anyEnvironment();
    const prevent_self_approval = this.#scene.random.chance(0.5);
    const rule = { required: 1 + this.#scene.random.below(2), prevent_self_approval };
    const approvals = { ...rule, approvers: { role: "owner" }, expires_after_seconds: 86_400 };
    const group = this.#scene.random.chance(0.6) && { group: "live" };
    await this.#clear();
    await this.#settings.changeRules(environment, { approvals, ...group });
    const deployment = await this.#create(environment, "supersede", this.#scene.random.chance(0.3));
    if (!deployment) return;
    for (const person of this.#scene.people) await this.#decide("approve", deployment, person);
    await this.#startAfterChange(deployment);
  }

  /** The same for a redeployment that is exempt as long as nothing changes. */
  async #changeAfterRedeployment(): Promise<void> {
    const repeated = this.#anySuccess();
    if (!repeated || this.#scene.model.exemptionOf(repeated.id) === undefined) return;
    const approvers = { role: "owner" };
    const rule = { required: 2, prevent_self_approval: true, expires_after_seconds: 86_400 };
    const rules = { approvals: { ...rule, approvers }, exempt: ["restart", "rollback"] };
    await this.#clear();
    await this.#settings.changeRules(repeated.environment, rules);
    const deployment = await this.#redeploy(repeated);
    if (deployment) await this.#startAfterChange(deployment);
  }

  /** The same for a deployment that has succeeded in another environment. */
  async #changeAfterSuccess(): Promise<void> {
    const [staging = "", production = ""] = this.#scene.model.environments.keys();
    const ids =
      this.#scene.random.pick([[staging], [this.#scene.extra], [staging, this.#scene.extra]]) ?? [];
    await this.#clear();
    await this.#settings.changeRules(production, {
      from: { environment_ids: ids, minimum_seconds: 0 },
    });
    for (const id of [...ids, production].slice(-2)) {
      const deployment = await this.#create(id, "supersede");
      if (id !== production && deployment) {
        await this.#override(deployment, CODES);
        const offer = await this.#runner.claim(deployment);
        await this.#runner.start(offer);
        await this.#runner.complete(offer, "succeeded");
      } else if (deployment) await this.#startAfterChange(deployment);
    }
  }

  /** Nothing runs, and nothing is frozen. */
  async #clear(): Promise<void> {
    await this.#runner.complete();
    while (this.#scene.model.freezes.length > 0) await this.#settings.thaw();
  }

  async #startAfterChange(deployment: WalkDeployment): Promise<void> {
    const { environment } = deployment;
    const offer = await this.#runner.claim(deployment);
    const changes = [
      () => this.#settings.edit(environment),
      () => this.#settings.edit(environment),
      () => this.#settings.changeStack(environment),
      () => this.#settings.connect(),
      () => this.#settings.replaceEnvironment(),
      () => this.#settings.changePerson(),
      () => this.#settings.freeze(),
      () => this.#settings.changeRules(environment),
      () => this.#scene.advance(1_000),
    ];
    await this.#scene.random.pick(changes)?.();
    // The change may have ended the environment of the deployment.
    if (!this.#scene.model.environments.has(environment)) return;
    await this.#runner.start(offer);
    if (this.#scene.random.chance(0.5)) await this.#runner.complete(offer);
  }

  async #decide(
    decision: "approve" | "reject",
    deployment = this.#scene.random.pick(this.#scene.model.listQueued()),
    person = this.#scene.random.pick(this.#scene.people),
  ): Promise<void> {
    if (!deployment || !person) return;
    const rules = this.#scene.model.rulesOf(deployment).filter(({ approvals }) => approvals);
    const mayDecide = rules.some((each) => this.#scene.model.isApprover(person, each, deployment));
    const content = this.#scene.model.contentOf(deployment);
    const path = `/v1/deployments/${deployment.id}/approvals`;
    const { status } = await this.#scene.call(person.key, "POST", path, { decision });
    const isVisible = person.isOrganizationOwner || person.role !== undefined;
    const refusal = isVisible && rules.length === 0 ? 409 : 403;
    expect(status, "who decides").toBe(mayDecide && isVisible ? 201 : refusal);
    if (status !== 201) return;
    if (decision === "approve") deployment.approvals.set(person.membershipId, content);
    else expect(await this.#scene.statusOf(deployment), "a rejection").toBe("canceled rejected");
  }

  async #override(
    deployment = this.#scene.random.pick(this.#scene.model.listQueued()),
    codes = CODES.filter(() => this.#scene.random.chance(0.5)),
  ): Promise<void> {
    if (!deployment || codes.length === 0) return;
    const { environment } = deployment;
    const content = this.#scene.model.contentOf(deployment);
    const path = `/v1/deployments/${deployment.id}/override`;
    const body = { reason: "a walk", conditions: codes };
    const { status } = await this.#scene.call(this.#scene.owner, "POST", path, body);
    expect([200, 409]).toContain(status);
    const { version } = this.#scene.model.environmentOf(environment);
    const freezeIds = this.#scene.model.freezes.map(({ id }) => id);
    if (status === 200) deployment.override = { codes, freezeIds, content, version };
  }

  /** After two sweeps, what may start is offered, and what has expired has ended. */
  async #expectNothingWaits(): Promise<void> {
    await this.#scene.sweep();
    await this.#scene.sweep();
    const { now } = this.#scene.worker;
    for (const deployment of this.#scene.model.listQueued()) {
      const isKept = deployment.override?.codes.includes("approvals");
      if (!isKept)
        expect(this.#scene.model.isExpired(deployment, now), "an expired deployment waits").toBe(
          false,
        );
      const { body } = await this.#scene.call(
        this.#scene.owner,
        "GET",
        `/v1/deployments/${deployment.id}`,
      );
      const waits: string[] = body.waiting_for.map(({ code }: { code: string }) => code);
      const allowed = this.#scene.model.mayStart(deployment, now);
      const hasCondition = waits.some((code) => [...CODES, "group"].includes(code));
      if (allowed !== "unclear")
        expect(hasCondition, `says that it waits for ${waits}`).toBe(allowed === "no");
      const isNext =
        waits.every((code) => code === "runner") && !/offered/.test(JSON.stringify(body));
      if (allowed !== "yes" || !isNext) continue;
      expect(
        await this.#runner.claim(deployment),
        "a deployment waits with its conditions met",
      ).toBeDefined();
      return;
    }
  }

  /** With every condition overridden, two sweeps and a runner empty the queue. */
  async #expectEverythingStarts(): Promise<void> {
    for (let turn = 0; turn < MAXIMUM_TURNS; turn += 1) {
      await this.#scene.advance(400_000);
      for (const deployment of this.#scene.model.listQueued())
        await this.#override(deployment, CODES);
      await this.#scene.sweep();
      await this.#scene.sweep();
      const offer = await this.#runner.claim();
      if (!offer) break;
      await this.#runner.start(offer);
      await this.#runner.complete(offer, "failed");
    }
    expect(this.#scene.model.listQueued(), "still queued").toEqual([]);
  }
}
