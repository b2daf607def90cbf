import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { Random } from "../support/random.ts";
import { CONNECTION, type World } from "../support/world.ts";
import { type Reply, VirtualTimeWorker } from "./fixture.ts";
import { describeBreaches, selectBreaches } from "./invariants.ts";
import {
  newExtraEnvironment,
  prepareProtectedWalk,
  type Send,
  setRole,
  type WalkTrusts,
} from "./protected-fixture.ts";
import {
  ProtectionModel,
  type WalkDeployment,
  type WalkPerson,
  type WalkRules,
} from "./protection-model.ts";

const HOUR_MS = 3_600_000;
const DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const CODES = ["approvals", "from", "window", "freeze"];
const MAXIMUM_TURNS = 60;

interface Offer {
  deployment: WalkDeployment;
  claimed: Reply["body"];
}

/** One random walk of people and a runner in two protected environments, determined by its seed. */
export class ProtectedWalk {
  readonly log: string[] = [];
  readonly #random: Random;
  #worker = new VirtualTimeWorker();
  #world!: World;
  #projectId = "";
  #poolPath = "";
  #trusts!: WalkTrusts;
  /** The environment that is deleted and made again, which rules may name. */
  #extra = "";
  #runner = "";
  #model = new ProtectionModel();
  #offers: Offer[] = [];
  /** How many starts were allowed, and how many refused. */
  readonly starts = { allowed: 0, refused: 0 };

  constructor(random: Random) {
    this.#random = random;
  }

  async run(steps: number): Promise<void> {
    await this.#prepare();
    const actions: [number, () => Promise<unknown>][] = [
      [12, () => this.#create()],
      [6, () => this.#redeploy()],
      [4, () => this.#promote()],
      [4, () => this.#create(undefined, undefined, true)],
      [5, () => this.#changeStack()],
      [3, () => this.#connect()],
      [3, () => this.#replaceEnvironment()],
      [8, () => this.#changeRules()],
      [20, () => this.#decide("approve")],
      [2, () => this.#decide("reject")],
      [5, () => this.#changePerson()],
      [6, () => this.#edit()],
      [3, () => this.#freeze()],
      [3, () => this.#thaw()],
      [4, () => this.#override()],
      [14, () => this.#claim()],
      [14, () => this.#start()],
      [12, () => this.#complete()],
      [8, () => this.#advance(this.#random.below(120_000))],
      [6, () => this.#advance(this.#random.below(8 * HOUR_MS))],
      [1, () => this.#restart()],
      [6, () => this.#changeAfterApprovals()],
      [3, () => this.#changeAfterRedeployment()],
      [3, () => this.#changeAfterSuccess()],
      [8, () => this.#expectNothingWaits()],
    ];
    for (let step = 0; step < steps; step += 1) {
      await this.#step(actions);
      await this.#sync();
    }
    await this.#expectEverythingStarts();
  }

  async #step(actions: [number, () => Promise<unknown>][]): Promise<void> {
    let ticket = this.#random.below(actions.reduce((sum, [weight]) => sum + weight, 0));
    for (const [weight, action] of actions) {
      ticket -= weight;
      if (ticket < 0) return void (await action());
    }
  }

  async #prepare(): Promise<void> {
    const prepared = await prepareProtectedWalk((...request) => this.#call(...request));
    this.#world = prepared.world;
    this.#model = prepared.model;
    this.#projectId = prepared.projectId;
    this.#poolPath = prepared.poolPath;
    this.#runner = prepared.runner;
    this.#trusts = prepared.trusts;
    this.#extra = [...this.#model.environments.keys()].at(-1) ?? "";
  }

  get #people(): WalkPerson[] {
    return [...this.#model.people.values()];
  }

  get #owner(): string {
    return String(this.#world.client.key);
  }

  #anyEnvironment(): string {
    return this.#random.pick([...this.#model.environments.keys()]) ?? "";
  }

  async #call(key: string, method: string, path: string, body?: object, lease?: string) {
    const headers = lease === undefined ? {} : { "lease-token": lease };
    const reply = await this.#worker.call(key, method, path, body, headers);
    this.log.push(`${method} ${path} ${JSON.stringify(body)}: ${reply.status}`);
    if (reply.status >= 500)
      throw new Error(`${path} answered ${reply.status}: ${this.#worker.unexpectedError}`);
    return reply;
  }

  async #create(
    environment = this.#anyEnvironment(),
    queue = this.#random.chance(0.5) ? "fifo" : "supersede",
    isOfTrust = false,
  ): Promise<WalkDeployment | undefined> {
    const isEmpty = this.#random.chance(0.3);
    const set = isEmpty ? {} : { [`k${this.#random.below(3)}`]: this.#random.below(3) };
    const patch = Object.entries(set).map(([name, value]) => ({
      op: "add",
      path: `/${name}`,
      value,
    }));
    const source = { registry: { image: `ghcr.io/acme/shop:${this.#random.below(2)}` } };
    const stacks = this.#model.environmentOf(environment).stacks;
    const stack_ids = [...stacks.keys()].filter((_, at) => at === 0 || this.#random.chance(0.6));
    const creator = this.#random.pick(this.#listCreators(isOfTrust));
    if (!creator) return undefined;
    const { membershipId } = creator;
    const key = isOfTrust
      ? await this.#trusts.exchange(membershipId, this.#worker.now)
      : creator.key;
    const path = `/v1/environments/${environment}/deployments`;
    const reply = await this.#call(key, "POST", path, { patch, source, stack_ids, queue });
    expect(reply.status).toBe(201);
    const change = { set };
    this.#created(reply, {
      environment,
      creator: membershipId,
      change,
      source: JSON.stringify(source),
    });
    return this.#model.of(reply.body.id);
  }

  /** Who has made a trust is a creator of what its key deploys, whatever this person may do by now. */
  #listCreators(isOfTrust: boolean): WalkPerson[] {
    return this.#people.filter(
      ({ isOrganizationOwner, role }) =>
        isOfTrust || isOrganizationOwner || role === "owner" || role === "contributor",
    );
  }

  #created(
    { body }: Reply,
    requested: Pick<WalkDeployment, "environment" | "creator" | "change" | "source"> &
      Partial<Pick<WalkDeployment, "exempt" | "repeated">>,
  ): void {
    this.#model.deployments.set(body.id, {
      ...{ id: body.id, createdAt: this.#worker.now, stackIds: body.stack_ids },
      ...{ exempt: undefined, repeated: undefined, ...requested },
      ...{ kept: [], approvals: new Map(), override: undefined, status: "queued" },
      ...{ start: undefined, finishedAt: undefined },
    });
  }

  #anySuccess(): WalkDeployment | undefined {
    const all = [...this.#model.deployments.values()].filter(
      ({ status, environment }) =>
        status === "succeeded" && this.#model.environments.has(environment),
    );
    return this.#random.pick(all.slice(-5));
  }

  async #redeploy(repeated = this.#anySuccess()): Promise<WalkDeployment | undefined> {
    if (!repeated?.start) return undefined;
    const exempt = this.#model.exemptionOf(repeated.id);
    const path = `/v1/deployments/${repeated.id}/redeploy`;
    const reply = await this.#call(this.#owner, "POST", path);
    expect([reply.status, reply.body.exempt]).toEqual([201, exempt]);
    const change = { fixed: repeated.start.configuration };
    const { environment, source } = repeated;
    const creator = this.#world.membershipId;
    this.#created(reply, { environment, creator, change, source, exempt, repeated });
    return this.#model.of(reply.body.id);
  }

  async #promote(): Promise<void> {
    const copied = this.#anySuccess();
    if (!copied?.start) return;
    const environment = this.#anyEnvironment();
    const body = { environment_id: environment };
    const path = `/v1/deployments/${copied.id}/promote`;
    const reply = await this.#call(this.#owner, "POST", path, body);
    expect(reply.status).toBe(201);
    const change = { fixed: copied.start.configuration };
    const creator = this.#world.membershipId;
    this.#created(reply, { environment, creator, change, source: copied.source });
  }

  /** Gives a stack another name, another component, or both. */
  async #changeStack(environment = this.#anyEnvironment()): Promise<void> {
    const { stacks } = this.#model.environmentOf(environment);
    const id = this.#random.pick([...stacks.keys()]);
    const stack = stacks.get(id ?? "");
    if (!id || !stack) return;
    const name = this.#random.pick(["a", "b", "c", stack.name]) ?? "";
    const components = [undefined, ...this.#components(environment)];
    const component = this.#random.chance(0.5) ? stack.component : this.#random.pick(components);
    const isTaken = [...stacks].some(([other, each]) => other !== id && each.name === name);
    const body = { name, component_id: component ?? null };
    const { status } = await this.#call(this.#owner, "PATCH", `/v1/stacks/${id}`, body);
    expect(status, "a stack changes").toBe(isTaken ? 409 : 200);
    if (status === 200) Object.assign(stack, { name, component });
  }

  #components(environment: string): readonly string[] {
    return this.#model.environmentOf(environment).components;
  }

  async #connect(): Promise<void> {
    const region = this.#random.pick(["eu-central-1", "us-east-1"]) ?? "";
    const path = `/v1/projects/${this.#projectId}/connection`;
    const { status } = await this.#call(this.#owner, "PUT", path, { ...CONNECTION, region });
    expect(status).toBe(200);
    this.#model.connection = region;
  }

  /** Its successes no longer count. Another one with the same name takes its place, which rules may name again. */
  async #replaceEnvironment(): Promise<void> {
    const id = this.#extra;
    const there = [...this.#model.deployments.values()].filter(
      ({ environment }) => environment === id,
    );
    for (const each of there) {
      if (each.status === "queued")
        await this.#call(this.#owner, "PATCH", `/v1/deployments/${each.id}/cancel`);
    }
    await this.#sync();
    const isBusy = there.some(({ status }) => ["in_progress", "canceling"].includes(status));
    const { status } = await this.#call(this.#owner, "DELETE", `/v1/environments/${id}`);
    expect(status, "the deletion of an environment").toBe(isBusy ? 409 : 204);
    if (isBusy) return;
    this.#model.removeEnvironment(id);
    this.#offers = this.#offers.filter(({ deployment }) => deployment.environment !== id);
    const project = { key: this.#owner, projectId: this.#projectId };
    const send: Send = (...request) => this.#call(...request);
    this.#extra = await newExtraEnvironment(send, project, this.#model);
    const environment_ids = [...this.#model.environments.keys()];
    const pool = await this.#call(this.#owner, "PATCH", this.#poolPath, { environment_ids });
    expect(pool.status).toBe(200);
  }

  async #changeRules(
    environment = this.#anyEnvironment(),
    rules = this.#randomRules(environment),
  ): Promise<void> {
    const path = `/v1/environments/${environment}/protection`;
    const { status, body } = await this.#call(this.#owner, "PUT", path, rules);
    if (status === 409) return void expect(body.message).toContain("earlier rules");
    expect(status).toBe(200);
    this.#model.setRules(environment, rules);
  }

  #randomRules(environment: string): WalkRules {
    const { chance, below, pick } = this.#random;
    const [staging = "", production = ""] = this.#model.environments.keys();
    const listed = this.#people.slice(1).map(({ membershipId }) => membershipId);
    const exempt = ["rollback", "restart"].filter(() => chance(0.5));
    const hours = [below(24), below(24)].map((hour) => `${String(hour).padStart(2, "0")}:00`);
    return {
      ...(chance(0.6) && {
        approvals: {
          required: 1 + below(2),
          approvers: chance(0.5) ? { role: "owner" } : { membership_ids: listed.toSorted() },
          prevent_self_approval: chance(0.6),
          expires_after_seconds: pick([3_600, 86_400, 864_000]) ?? 86_400,
        },
      }),
      ...(chance(0.3) && {
        windows: {
          time_zone: "UTC",
          weekly: [
            {
              days: DAYS.filter((_, at) => at === 0 || chance(0.6)),
              from: hours[0] ?? "",
              to: hours[1] ?? "",
            },
          ],
        },
      }),
      ...(environment === production &&
        chance(0.3) && {
          from: {
            environment_ids: pick([[staging], [this.#extra], [staging, this.#extra]]) ?? [],
            minimum_seconds: pick([0, 0, 600]) ?? 0,
          },
        }),
      ...(chance(0.4) && { group: "live" }),
      ...(exempt.length > 0 && { exempt }),
    };
  }

  /** Single random steps seldom change something between the last approval and the start. */
  async #changeAfterApprovals(): Promise<void> {
    const environment = this.#anyEnvironment();
    const prevent_self_approval = this.#random.chance(0.5);
    const rule = { required: 1 + this.#random.below(2), prevent_self_approval };
    const approvals = { ...rule, approvers: { role: "owner" }, expires_after_seconds: 86_400 };
    const group = this.#random.chance(0.6) && { group: "live" };
    await this.#clear();
    await this.#changeRules(environment, { approvals, ...group });
    const deployment = await this.#create(environment, "supersede", this.#random.chance(0.3));
    if (!deployment) return;
    for (const person of this.#people) await this.#decide("approve", deployment, person);
    await this.#startAfterChange(deployment);
  }

  /** The same for a redeployment that is exempt as long as nothing changes. */
  async #changeAfterRedeployment(): Promise<void> {
    const repeated = this.#anySuccess();
    if (!repeated || this.#model.exemptionOf(repeated.id) === undefined) return;
    const approvers = { role: "owner" };
    const rule = { required: 2, prevent_self_approval: true, expires_after_seconds: 86_400 };
    const rules = { approvals: { ...rule, approvers }, exempt: ["restart", "rollback"] };
    await this.#clear();
    await this.#changeRules(repeated.environment, rules);
    const deployment = await this.#redeploy(repeated);
    if (deployment) await this.#startAfterChange(deployment);
  }

  /** The same for a deployment that has succeeded in another environment. */
  async #changeAfterSuccess(): Promise<void> {
    const [staging = "", production = ""] = this.#model.environments.keys();
    const ids = this.#random.pick([[staging], [this.#extra], [staging, this.#extra]]) ?? [];
    await this.#clear();
    await this.#changeRules(production, { from: { environment_ids: ids, minimum_seconds: 0 } });
    for (const id of [...ids, production].slice(-2)) {
      const deployment = await this.#create(id, "supersede");
      if (id !== production && deployment) {
        await this.#override(deployment, CODES);
        const offer = await this.#claim(deployment);
        await this.#start(offer);
        await this.#complete(offer, "succeeded");
      } else if (deployment) await this.#startAfterChange(deployment);
    }
  }

  /** Nothing runs, and nothing is frozen. */
  async #clear(): Promise<void> {
    await this.#complete();
    while (this.#model.freezes.length > 0) await this.#thaw();
  }

  async #startAfterChange(deployment: WalkDeployment): Promise<void> {
    const { environment } = deployment;
    const offer = await this.#claim(deployment);
    const changes = [
      () => this.#edit(environment),
      () => this.#edit(environment),
      () => this.#changeStack(environment),
      () => this.#connect(),
      () => this.#replaceEnvironment(),
      () => this.#changePerson(),
      () => this.#freeze(),
      () => this.#changeRules(environment),
      () => this.#advance(1_000),
    ];
    await this.#random.pick(changes)?.();
    // The change may have ended the environment of the deployment.
    if (!this.#model.environments.has(environment)) return;
    await this.#start(offer);
    if (this.#random.chance(0.5)) await this.#complete(offer);
  }

  async #decide(
    decision: "approve" | "reject",
    deployment = this.#random.pick(this.#model.listQueued()),
    person = this.#random.pick(this.#people),
  ): Promise<void> {
    if (!deployment || !person) return;
    const rules = this.#model.rulesOf(deployment).filter(({ approvals }) => approvals);
    const mayDecide = rules.some((each) => this.#model.isApprover(person, each, deployment));
    const content = this.#model.contentOf(deployment);
    const path = `/v1/deployments/${deployment.id}/approvals`;
    const { status } = await this.#call(person.key, "POST", path, { decision });
    const isVisible = person.isOrganizationOwner || person.role !== undefined;
    const refusal = isVisible && rules.length === 0 ? 409 : 403;
    expect(status, "who decides").toBe(mayDecide && isVisible ? 201 : refusal);
    if (status !== 201) return;
    if (decision === "approve") deployment.approvals.set(person.membershipId, content);
    else expect(await this.#statusOf(deployment), "a rejection").toBe("canceled rejected");
  }

  async #changePerson(): Promise<void> {
    const person = this.#random.pick(this.#people.slice(1));
    if (person)
      await setRole(
        (...request) => this.#call(...request),
        { key: this.#owner, projectId: this.#projectId },
        person,
        this.#random.pick([undefined, "viewer", "owner", "owner"]),
      );
  }

  async #edit(environment = this.#anyEnvironment()): Promise<void> {
    const configuration = { [`k${this.#random.below(3)}`]: this.#random.below(3) };
    const path = `/v1/environments/${environment}`;
    const { body } = await this.#call(this.#owner, "GET", path);
    const { status } = await this.#call(this.#owner, "PUT", path, {
      name: body.name,
      configuration,
    });
    expect([200, 409]).toContain(status);
    if (status === 200) this.#model.setConfiguration(environment, configuration);
  }

  async #freeze(): Promise<void> {
    const { chance, below } = this.#random;
    const start = this.#worker.now + (chance(0.5) ? 0 : below(4 * HOUR_MS));
    const end = start + 60_000 + below(6 * HOUR_MS);
    const environments = chance(0.5) ? [this.#anyEnvironment()] : undefined;
    const owner = chance(0.5) ? `orgs/${this.#world.id}` : `projects/${this.#projectId}`;
    const { status, body } = await this.#call(this.#owner, "POST", `/v1/${owner}/freezes`, {
      name: "freeze",
      reason: "a walk",
      starts_at: new Date(start).toISOString(),
      ends_at: new Date(end).toISOString(),
      ...(environments && { environment_ids: environments }),
    });
    expect(status).toBe(201);
    this.#model.freezes.push({ id: body.id, start, end, environments });
  }

  async #thaw(): Promise<void> {
    const freeze = this.#random.pick(this.#model.freezes);
    if (!freeze) return;
    expect((await this.#call(this.#owner, "DELETE", `/v1/freezes/${freeze.id}`)).status).toBe(204);
    this.#model.freezes = this.#model.freezes.filter(({ id }) => id !== freeze.id);
  }

  async #override(
    deployment = this.#random.pick(this.#model.listQueued()),
    codes = CODES.filter(() => this.#random.chance(0.5)),
  ): Promise<void> {
    if (!deployment || codes.length === 0) return;
    const { environment } = deployment;
    const content = this.#model.contentOf(deployment);
    const path = `/v1/deployments/${deployment.id}/override`;
    const body = { reason: "a walk", conditions: codes };
    const { status } = await this.#call(this.#owner, "POST", path, body);
    expect([200, 409]).toContain(status);
    const { version } = this.#model.environmentOf(environment);
    const freezeIds = this.#model.freezes.map(({ id }) => id);
    if (status === 200) deployment.override = { codes, freezeIds, content, version };
  }

  async #claim(wanted?: WalkDeployment): Promise<Offer | undefined> {
    const body = {
      request_id: crypto.randomUUID(),
      ...(wanted && { deployment_id: wanted.id }),
    };
    const { status, body: claimed } = await this.#call(
      this.#runner,
      "POST",
      "/v1/runner/claims",
      body,
    );
    if (status !== 200) return undefined;
    const offer = { deployment: this.#model.of(claimed.deployment.id), claimed };
    this.#offers.push(offer);
    return offer;
  }

  /** A start succeeds exactly if the model allows it at that moment. */
  async #start(offer = this.#random.pick(this.#offers.slice(-2))): Promise<void> {
    if (!offer) return;
    await this.#sync();
    const { deployment, claimed } = offer;
    const allowed = this.#model.mayStart(deployment, this.#worker.now);
    const open = this.#model.openConditions(deployment, this.#worker.now).join(", ");
    const isQueued = deployment.status === "queued";
    const earlier = await this.#outcomeOf(claimed);
    const { status } = await this.#attempt(claimed, "start");
    const outcome = await this.#outcomeOf(claimed);
    // An attempt that has ended is refused whatever the conditions are by now.
    if (!isQueued || earlier !== null) return;
    if (status === 200) {
      expect(allowed, `a start without its conditions: ${open}`).not.toBe("no");
      this.#model.start(deployment, this.#worker.now);
      deployment.status = "in_progress";
      this.starts.allowed += 1;
    } else if (outcome === "refused") {
      expect(allowed, "a start is refused although its conditions are met").not.toBe("yes");
      this.starts.refused += 1;
    }
  }

  /** Null: it has not ended. */
  async #outcomeOf({ attempt_id: id }: Reply["body"]): Promise<unknown> {
    const select = env.DB.prepare("select outcome from attempts where id = ?").bind(id);
    return (await select.first("outcome")) ?? null;
  }

  #attempt({ attempt_id: id, lease_token: lease }: Reply["body"], verb: string, body?: object) {
    return this.#call(this.#runner, "POST", `/v1/runner/attempts/${id}/${verb}`, body, lease);
  }

  async #complete(offer = this.#offers.at(-1), outcome?: string): Promise<void> {
    if (!offer) return;
    const { deployment, claimed } = offer;
    const chosen = outcome ?? (this.#random.chance(0.8) ? "succeeded" : "failed");
    const { attempt_id: id, lease_token: lease } = claimed;
    for (const stack of claimed.deployment.stack_ids) {
      const path = `/v1/runner/attempts/${id}/stacks/${stack}`;
      await this.#call(this.#runner, "PUT", path, { seq: 1, status: chosen }, lease);
    }
    const { status } = await this.#attempt(claimed, "complete", { outcome: chosen });
    const wasRunning = deployment.status === "in_progress";
    await this.#sync();
    if (status !== 200 || !wasRunning || deployment.status !== "succeeded") return;
    this.#model.setConfiguration(deployment.environment, deployment.start?.configuration ?? {});
  }

  async #advance(milliseconds: number): Promise<void> {
    this.log.push(`${milliseconds} ms later`);
    this.#worker.now += milliseconds;
  }

  /** Another Worker continues. */
  async #restart(): Promise<void> {
    const { now } = this.#worker;
    this.#worker = new VirtualTimeWorker();
    this.#worker.now = now;
    this.log.push("restart");
  }

  async #sweep(): Promise<void> {
    this.log.push("sweep");
    this.#worker.now += 1;
    await this.#worker.sweep();
    await this.#sync();
  }

  /** After two sweeps, what may start is offered, and what has expired has ended. */
  async #expectNothingWaits(): Promise<void> {
    await this.#sweep();
    await this.#sweep();
    const { now } = this.#worker;
    for (const deployment of this.#model.listQueued()) {
      const isKept = deployment.override?.codes.includes("approvals");
      if (!isKept)
        expect(this.#model.isExpired(deployment, now), "an expired deployment waits").toBe(false);
      const { body } = await this.#call(this.#owner, "GET", `/v1/deployments/${deployment.id}`);
      const waits: string[] = body.waiting_for.map(({ code }: { code: string }) => code);
      const allowed = this.#model.mayStart(deployment, now);
      const hasCondition = waits.some((code) => [...CODES, "group"].includes(code));
      if (allowed !== "unclear")
        expect(hasCondition, `says that it waits for ${waits}`).toBe(allowed === "no");
      const isNext =
        waits.every((code) => code === "runner") && !/offered/.test(JSON.stringify(body));
      if (allowed !== "yes" || !isNext) continue;
      expect(
        await this.#claim(deployment),
        "a deployment waits with its conditions met",
      ).toBeDefined();
      return;
    }
  }

  async #statusOf({ id }: WalkDeployment): Promise<unknown> {
    return env.DB.prepare(
      "select status || coalesce(' ' || failure_reason, '') as text from deployments where id = ?",
    )
      .bind(id)
      .first("text");
  }

  async #sync(): Promise<void> {
    const [rows, breaches] = await env.DB.batch<Reply["body"]>([
      env.DB.prepare(
        "select id, status, failure_reason, finished_at from deployments where organization_id = ?",
      ).bind(this.#world.id),
      selectBreaches({
        worldId: this.#world.id,
        environments: [...this.#model.environments.keys()],
      }),
    ]);
    const found = describeBreaches(breaches?.results ?? []);
    if (found.length > 0) throw new Error(found.join("; "));
    for (const row of rows?.results ?? []) {
      const deployment = this.#model.of(row.id);
      if (deployment.status === row.status) continue;
      if (row.failure_reason === "approval_expired") {
        expect(this.#model.isExpired(deployment, this.#worker.now), "it expires early").toBe(true);
      }
      Object.assign(deployment, { status: row.status, finishedAt: row.finished_at ?? undefined });
    }
  }

  /** With every condition overridden, two sweeps and a runner empty the queue. */
  async #expectEverythingStarts(): Promise<void> {
    for (let turn = 0; turn < MAXIMUM_TURNS; turn += 1) {
      await this.#advance(400_000);
      for (const deployment of this.#model.listQueued()) await this.#override(deployment, CODES);
      await this.#sweep();
      await this.#sweep();
      const offer = await this.#claim();
      if (!offer) break;
      await this.#start(offer);
      await this.#complete(offer, "failed");
    }
    expect(this.#model.listQueued(), "still queued").toEqual([]);
  }
}
