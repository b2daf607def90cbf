import { beforeEach, describe, expect, it } from "vitest";
import type { Clock } from "../../src/lib/clock.ts";
import type { Parsed, Reply } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import { newIntegration } from "../support/integrations.ts";
import { listDeliveries } from "../support/outbox.ts";
import { newFreeze, protect } from "../support/protection.ts";
import { Attempt } from "../support/runner.ts";
import {
  newDeployableProject,
  newDeployment,
  newKey,
  newStack,
  newWorld,
  type Pool,
  type World,
} from "../support/world.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** More than a request has ever made of its clock. */
const READINGS = 40;

let world: World;
let project: Parsed;
let environmentId: string;
let pool: Pool;

beforeEach(async () => {
  world = await newWorld();
  ({ project, environmentId, pool } = await newDeployableProject(world));
  await newStack(world.client, environmentId);
});

/** Shows `before` for as many readings, then `after`. */
class TurningClock implements Clock {
  left = Number.POSITIVE_INFINITY;
  readonly #before: number;
  readonly #after: number;

  constructor(before: number, after: number) {
    this.#before = before;
    this.#after = after;
  }

  now(): number {
    this.left -= 1;
    return this.left >= 0 ? this.#before : this.#after;
  }
}

interface Repeated {
  path: string;
  body: object;
}

/** The responses of a request and its repeat, where a freeze ends after each number of readings in turn. */
async function repeatAfterEachReading(request: () => Promise<Repeated>): Promise<Reply[][]> {
  const startedAt = Date.now();
  const endsAt = startedAt + 10 * MINUTE_MS;
  await world.client.post(
    `/v1/projects/${project.id}/freezes`,
    newFreeze({
      starts_at: new Date(startedAt - MINUTE_MS).toISOString(),
      ends_at: new Date(endsAt).toISOString(),
    }),
  );
  const clock = new TurningClock(startedAt, endsAt + MINUTE_MS);
  const { fetch } = new Instrumented({ clock });
  const rounds: Reply[][] = [];
  for (let readings = 0; readings < READINGS; readings += 1) {
    const { path, body } = await request();
    const { client } = await newKey(world, { isOwn: true });
    const headers = { "idempotency-key": crypto.randomUUID() };
    clock.left = readings;
    const first = await client.via(fetch).request("POST", path, body, headers);
    clock.left = 0;
    const repeat = await client.via(fetch).request("POST", path, body, headers);
    expect(repeat.headers.get("idempotency-replayed")).toBe("true");
    rounds.push([first, repeat]);
  }
  return rounds;
}

const shown = ({ status, text, headers }: Reply) => ({ status, text, etag: headers.get("etag") });

const isFrozen = ({ body }: Reply) =>
  body["waiting_for"].some(({ code }: Parsed) => code === "freeze");

function expectEqual(rounds: readonly Reply[][]): void {
  for (const [first, repeat] of rounds) {
    expect(shown(repeat as Reply)).toEqual(shown(first as Reply));
  }
  const frozen = rounds.map(([first]) => isFrozen(first as Reply));
  expect([frozen[0], frozen.at(-1)]).toEqual([false, true]);
}

describe("a freeze that ends while a request runs", () => {
  it("is over in the first response of a new deployment if it is in the repeat", async () => {
    const path = `/v1/environments/${environmentId}/deployments`;
    expectEqual(await repeatAfterEachReading(async () => ({ path, body: {} })));
  });

  it("is over in the first response of an override if it is in the repeat", async () => {
    await protect(world.client, environmentId, {
      approvals: { required: 1, approvers: { role: "owner" } },
    });
    const override = async () => {
      const { client } = await newKey(world, { isOwn: true });
      const { id } = await newDeployment(client, environmentId);
      const body = { reason: "The shop is down", conditions: ["approvals"] };
      return { path: `/v1/deployments/${id}/override`, body };
    };
    expectEqual(await repeatAfterEachReading(override));
  });
});

describe("a clock that goes back by a day", () => {
  it("makes no duration of a deployment negative", async () => {
    const clock = { time: Date.now(), now: () => clock.time };
    const { fetch } = new Instrumented({ clock });
    const client = world.client.via(fetch);
    await newIntegration(client, project.id, ["deployments_succeeded"]);
    const { id } = await newDeployment(client, environmentId);
    clock.time -= DAY_MS;
    const attempt = await Attempt.started(pool.runner.via(fetch));
    clock.time -= DAY_MS;
    const [stackId] = attempt.claimed.deployment.stack_ids;
    await attempt.report(stackId, { seq: 1, status: "in_progress" });
    clock.time -= DAY_MS;
    await attempt.succeed();
    const { body } = await client.get(`/v1/deployments/${id}`);
    const durations = { queued_seconds: 0, run_seconds: 0 };
    expect(body).toMatchObject({ status: "succeeded", ...durations });
    expect(body.data.stacks).toEqual([expect.objectContaining({ id: stackId, run_seconds: 0 })]);
    const { body: overview } = await client.get(`/v1/projects/${project.id}/overview`);
    expect(JSON.stringify(overview)).not.toMatch(/_seconds":-/);
    const events = await listDeliveries(project.id);
    expect(events.map(({ data }) => data)).toEqual([expect.objectContaining(durations)]);
    const { body: insights } = await client.get(`/v1/projects/${project.id}/insights`);
    const zero = { median: 0, p95: 0 };
    const [day] = insights.data[0].days;
    expect(day).toMatchObject({ succeeded: 1, queued_seconds: zero, run_seconds: zero });
  });
});
