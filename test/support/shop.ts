import { beforeEach, expect } from "vitest";
import { VirtualTimeWorker } from "../walk/fixture.ts";
import type { Client, Parsed, Reply } from "./client.ts";
import { Instrumented } from "./instruments.ts";
import { joinProject, newFreeze, protect } from "./protection.ts";
import { Attempt } from "./runner.ts";
import { copiesOf } from "./template.ts";
import {
  newDeployableProject,
  newDeployment,
  newStack,
  newWorld,
  type Person,
  type Pool,
  type World,
} from "./world.ts";

type Caller = Pick<Person, "client">;

/** By their rules. Later tests get copies of the first shop, which take a tenth of the time. */
const shops = new Map<string, ReturnType<typeof copiesOf>>();

function shopOf(rules: object | undefined) {
  const key = JSON.stringify(rules ?? null);
  const known = shops.get(key) ?? copiesOf(() => openShop(rules));
  shops.set(key, known);
  return known;
}

async function openShop(rules: object | undefined) {
  const world = await newWorld();
  const deployable = await newDeployableProject(world);
  if (!rules) return { world, ...deployable };
  await protect(world.client, deployable.environmentId, rules);
  const mona = await joinProject(world, deployable.project.id, "contributor");
  return { world, ...deployable, mona };
}

/** An organization with a connected project, whose environment a runner pool serves. */
export class Shop {
  world!: World;
  project!: Parsed;
  environmentId!: string;
  pool!: Pool;
  /** A contributor of the project, in a shop that has rules. */
  mona!: Person;

  get environment(): string {
    return `/v1/environments/${this.environmentId}`;
  }

  get deployments(): string {
    return `${this.environment}/deployments`;
  }

  async open(rules?: object): Promise<void> {
    Object.assign(this, await shopOf(rules)());
  }

  deploy(body: object = {}, { client }: Caller = this.mona ?? this.world): Promise<Parsed> {
    return newDeployment(client, this.environmentId, body);
  }

  async read(id: string): Promise<Parsed> {
    return (await this.world.client.get(`/v1/deployments/${id}`)).body;
  }

  /** What a deployment waits for. */
  async reasons(id: string): Promise<Parsed[]> {
    return (await this.read(id))["waiting_for"];
  }

  async codes(id: string): Promise<string[]> {
    return (await this.reasons(id)).map(({ code }) => code);
  }

  /** The ID of another environment, with a stack. */
  async newEnvironment(name: string): Promise<string> {
    const path = `/v1/projects/${this.project.id}/environments`;
    const { body } = await this.world.client.post(path, { name });
    await newStack(this.world.client, body.id);
    return body.id;
  }

  async configuration(): Promise<Parsed> {
    return (await this.world.client.get(this.environment)).body.configuration;
  }

  /** Replaces the configuration of the environment. */
  async edit(configuration: object): Promise<void> {
    const { name } = (await this.world.client.get(this.environment)).body;
    const reply = await this.world.client.put(this.environment, { name, configuration });
    expect(reply.status, reply.text).toBe(200);
  }

  protect(rules: object): Promise<void> {
    return protect(this.world.client, this.environmentId, rules);
  }

  /** A freeze of the project that has begun. */
  freeze(fields: object = {}): Promise<Reply> {
    const starts_at = new Date(Date.now() - 1_000).toISOString();
    const path = `/v1/projects/${this.project.id}/freezes`;
    return this.world.client.post(path, newFreeze({ starts_at, ...fields }));
  }

  join(role: "viewer" | "contributor" | "owner"): Promise<Person> {
    return joinProject(this.world, this.project.id, role);
  }

  /** Starts the next deployment. */
  start(): Promise<Attempt> {
    return Attempt.started(this.pool.runner);
  }

  /** Runs the next deployment to its success. */
  async succeed(): Promise<Attempt> {
    const attempt = await this.start();
    expect((await attempt.succeed()).status).toBe(200);
    return attempt;
  }

  /** The schedule runs, now or at another time. */
  async sweep(now = Date.now()): Promise<void> {
    const worker = new VirtualTimeWorker();
    worker.now = now;
    await worker.sweep();
  }
}

/** A shop whose people and runners call one isolate, which has a clock of its own. */
export class TimedShop extends Shop {
  now = 0;
  worker!: Instrumented;
  runner!: Client;

  override async open(rules?: object): Promise<void> {
    this.now = Date.now();
    this.worker = new Instrumented({ clock: { now: () => this.now } });
    await super.open(rules);
    this.world.client = this.world.client.via(this.worker.fetch);
    this.runner = this.pool.runner.via(this.worker.fetch);
  }
}

export function useTimedShop(): TimedShop {
  const shop = new TimedShop();
  beforeEach(() => shop.open());
  return shop;
}

/** A new shop for each test. With rules, its environment is protected, and it has a contributor. */
export function useShop(rules?: object): Shop {
  const shop = new Shop();
  beforeEach(() => shop.open(rules));
  return shop;
}
