import { expect } from "vitest";
import { CONNECTION } from "../support/world.ts";
import { newExtraEnvironment, type Send, setRole } from "./protected-fixture.ts";
import type { ProtectedScene } from "./protected-scene.ts";
import type { WalkRules } from "./protection-model.ts";

const HOUR_MS = 3_600_000;
const DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/** Changes the rules, and what they are about. */
export class ProtectedSettings {
  readonly #scene: ProtectedScene;

  constructor(scene: ProtectedScene) {
    this.#scene = scene;
  }

  /** Gives a stack another name, another component, or both. */
  async changeStack(environment = this.#scene.anyEnvironment()): Promise<void> {
    const { stacks } = this.#scene.model.environmentOf(environment);
    const id = this.#scene.random.pick([...stacks.keys()]);
    const stack = stacks.get(id ?? "");
    if (!id || !stack) return;
    const name = this.#scene.random.pick(["a", "b", "c", stack.name]) ?? "";
    const components = [undefined, ...this.#components(environment)];
    const component = this.#scene.random.chance(0.5)
      ? stack.component
      : this.#scene.random.pick(components);
    const isTaken = [...stacks].some(([other, each]) => other !== id && each.name === name);
    const body = { name, component_id: component ?? null };
    const { status } = await this.#scene.call(this.#scene.owner, "PATCH", `/v1/stacks/${id}`, body);
    expect(status, "a stack changes").toBe(isTaken ? 409 : 200);
    if (status === 200) Object.assign(stack, { name, component });
  }

  #components(environment: string): readonly string[] {
    return this.#scene.model.environmentOf(environment).components;
  }

  async connect(): Promise<void> {
    const region = this.#scene.random.pick(["eu-central-1", "us-east-1"]) ?? "";
    const path = `/v1/projects/${this.#scene.projectId}/connection`;
    const { status } = await this.#scene.call(this.#scene.owner, "PUT", path, {
      ...CONNECTION,
      region,
    });
    expect(status).toBe(200);
    this.#scene.model.connection = region;
  }

  /** Its successes no longer count. Another one with the same name takes its place, which rules may name again. */
  async replaceEnvironment(): Promise<void> {
    const id = this.#scene.extra;
    const there = [...this.#scene.model.deployments.values()].filter(
      ({ environment }) => environment === id,
    );
    for (const each of there) {
      if (each.status === "queued")
        await this.#scene.call(this.#scene.owner, "PATCH", `/v1/deployments/${each.id}/cancel`);
    }
    await this.#scene.sync();
    const isBusy = there.some(({ status }) => ["in_progress", "canceling"].includes(status));
    const { status } = await this.#scene.call(
      this.#scene.owner,
      "DELETE",
      `/v1/environments/${id}`,
    );
    expect(status, "the deletion of an environment").toBe(isBusy ? 409 : 204);
    if (isBusy) return;
    this.#scene.model.removeEnvironment(id);
    this.#scene.offers = this.#scene.offers.filter(
      ({ deployment }) => deployment.environment !== id,
    );
    const project = { key: this.#scene.owner, projectId: this.#scene.projectId };
    const send: Send = (...request) => this.#scene.call(...request);
    this.#scene.extra = await newExtraEnvironment(send, project, this.#scene.model);
    const environment_ids = [...this.#scene.model.environments.keys()];
    const pool = await this.#scene.call(this.#scene.owner, "PATCH", this.#scene.poolPath, {
      environment_ids,
    });
    expect(pool.status).toBe(200);
  }

  async changeRules(
    environment = this.#scene.anyEnvironment(),
    rules = this.#randomRules(environment),
  ): Promise<void> {
    const path = `/v1/environments/${environment}/protection`;
    const { status, body } = await this.#scene.call(this.#scene.owner, "PUT", path, rules);
    if (status === 409) return void expect(body.message).toContain("earlier rules");
    expect(status).toBe(200);
    this.#scene.model.setRules(environment, rules);
  }

  #randomRules(environment: string): WalkRules {
    const { chance, below, pick } = this.#scene.random;
    const [staging = "", production = ""] = this.#scene.model.environments.keys();
    const listed = this.#scene.people.slice(1).map(({ membershipId }) => membershipId);
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
            environment_ids:
              pick([[staging], [this.#scene.extra], [staging, this.#scene.extra]]) ?? [],
            minimum_seconds: pick([0, 0, 600]) ?? 0,
          },
        }),
      ...(chance(0.4) && { group: "live" }),
      ...(exempt.length > 0 && { exempt }),
    };
  }

  async changePerson(): Promise<void> {
    const person = this.#scene.random.pick(this.#scene.people.slice(1));
    if (person)
      await setRole(
        (...request) => this.#scene.call(...request),
        { key: this.#scene.owner, projectId: this.#scene.projectId },
        person,
        this.#scene.random.pick([undefined, "viewer", "owner", "owner"]),
      );
  }

  async edit(environment = this.#scene.anyEnvironment()): Promise<void> {
    const configuration = { [`k${this.#scene.random.below(3)}`]: this.#scene.random.below(3) };
    const path = `/v1/environments/${environment}`;
    const { body } = await this.#scene.call(this.#scene.owner, "GET", path);
    const { status } = await this.#scene.call(this.#scene.owner, "PUT", path, {
      name: body.name,
      configuration,
    });
    expect([200, 409]).toContain(status);
    if (status === 200) this.#scene.model.setConfiguration(environment, configuration);
  }

  async freeze(): Promise<void> {
    const { chance, below } = this.#scene.random;
    const start = this.#scene.worker.now + (chance(0.5) ? 0 : below(4 * HOUR_MS));
    const end = start + 60_000 + below(6 * HOUR_MS);
    const environments = chance(0.5) ? [this.#scene.anyEnvironment()] : undefined;
    const owner = chance(0.5)
      ? `orgs/${this.#scene.world.id}`
      : `projects/${this.#scene.projectId}`;
    const { status, body } = await this.#scene.call(
      this.#scene.owner,
      "POST",
      `/v1/${owner}/freezes`,
      {
        name: "freeze",
        reason: "a walk",
        starts_at: new Date(start).toISOString(),
        ends_at: new Date(end).toISOString(),
        ...(environments && { environment_ids: environments }),
      },
    );
    expect(status).toBe(201);
    this.#scene.model.freezes.push({ id: body.id, start, end, environments });
  }

  async thaw(): Promise<void> {
    const freeze = this.#scene.random.pick(this.#scene.model.freezes);
    if (!freeze) return;
    expect(
      (await this.#scene.call(this.#scene.owner, "DELETE", `/v1/freezes/${freeze.id}`)).status,
    ).toBe(204);
    this.#scene.model.freezes = this.#scene.model.freezes.filter(({ id }) => id !== freeze.id);
  }
}
