import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { Random } from "../support/random.ts";
import type { World } from "../support/world.ts";
import { type Reply, VirtualTimeWorker } from "./fixture.ts";
import { describeBreaches, selectBreaches } from "./invariants.ts";
import { prepareProtectedWalk, type WalkTrusts } from "./protected-fixture.ts";
import { ProtectionModel, type WalkDeployment, type WalkPerson } from "./protection-model.ts";

export interface Offer {
  deployment: WalkDeployment;
  claimed: Reply["body"];
}

/** What the actors of a walk in two protected environments share. */
export class ProtectedScene {
  readonly log: string[] = [];
  readonly random: Random;
  worker = new VirtualTimeWorker();
  world!: World;
  projectId = "";
  poolPath = "";
  trusts!: WalkTrusts;
  /** The environment that is deleted and made again, which rules may name. */
  extra = "";
  /** The token of the pool that serves both environments. */
  runnerKey = "";
  model = new ProtectionModel();
  offers: Offer[] = [];

  constructor(random: Random) {
    this.random = random;
  }

  async prepare(): Promise<void> {
    const prepared = await prepareProtectedWalk((...request) => this.call(...request));
    this.world = prepared.world;
    this.model = prepared.model;
    this.projectId = prepared.projectId;
    this.poolPath = prepared.poolPath;
    this.runnerKey = prepared.runner;
    this.trusts = prepared.trusts;
    this.extra = [...this.model.environments.keys()].at(-1) ?? "";
  }

  get people(): WalkPerson[] {
    return [...this.model.people.values()];
  }

  get owner(): string {
    return String(this.world.client.key);
  }

  anyEnvironment(): string {
    return this.random.pick([...this.model.environments.keys()]) ?? "";
  }

  async call(key: string, method: string, path: string, body?: object, lease?: string) {
    const headers = lease === undefined ? {} : { "lease-token": lease };
    const reply = await this.worker.call(key, method, path, body, headers);
    this.log.push(`${method} ${path} ${JSON.stringify(body)}: ${reply.status}`);
    if (reply.status >= 500)
      throw new Error(`${path} answered ${reply.status}: ${this.worker.unexpectedError}`);
    return reply;
  }

  async advance(milliseconds: number): Promise<void> {
    this.log.push(`${milliseconds} ms later`);
    this.worker.now += milliseconds;
  }

  /** Another Worker continues. */
  async restart(): Promise<void> {
    const { now } = this.worker;
    this.worker = new VirtualTimeWorker();
    this.worker.now = now;
    this.log.push("restart");
  }

  async sweep(): Promise<void> {
    this.log.push("sweep");
    this.worker.now += 1;
    await this.worker.sweep();
    await this.sync();
  }

  async statusOf({ id }: WalkDeployment): Promise<unknown> {
    return env.DB.prepare(
      "select status || coalesce(' ' || failure_reason, '') as text from deployments where id = ?",
    )
      .bind(id)
      .first("text");
  }

  async sync(): Promise<void> {
    const [rows, breaches] = await env.DB.batch<Reply["body"]>([
      env.DB.prepare(
        "select id, status, failure_reason, finished_at from deployments where organization_id = ?",
      ).bind(this.world.id),
      selectBreaches({
        worldId: this.world.id,
        environments: [...this.model.environments.keys()],
      }),
    ]);
    const found = describeBreaches(breaches?.results ?? []);
    if (found.length > 0) throw new Error(found.join("; "));
    for (const row of rows?.results ?? []) {
      const deployment = this.model.of(row.id);
      if (deployment.status === row.status) continue;
      if (row.failure_reason === "approval_expired") {
        expect(this.model.isExpired(deployment, this.worker.now), "it expires early").toBe(true);
      }
      Object.assign(deployment, { status: row.status, finishedAt: row.finished_at ?? undefined });
    }
  }
}
