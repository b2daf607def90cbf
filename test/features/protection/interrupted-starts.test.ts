import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Parsed } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import {
  approve,
  joinProject,
  newFreeze,
  newProtectedEnvironment,
  protect,
} from "../../support/protection.ts";
import { Attempt } from "../../support/runner.ts";
import {
  newDeployment,
  newWorld,
  type Person,
  type Pool,
  type World,
} from "../../support/world.ts";

const rulesWith = (required: number) => ({
  approvals: { required, approvers: { role: "owner" } },
});

let world: World;
let project: Parsed;
let environmentId: string;
let pool: Pool;
let olga: Person;

beforeEach(async () => {
  world = await newWorld();
  ({ project, environmentId, pool } = await newProtectedEnvironment(world, rulesWith(1)));
  olga = await joinProject(world, project.id, "owner");
});

/** Acts before the second batch of a request: after the reads on which it decides, and before its writes. */
function interruptedBy(act: () => Promise<unknown>): D1Database {
  let batches = 0;
  const withSession = (constraint: string) => {
    const session = env.DB.withSession(constraint);
    return {
      prepare: (sql: string) => session.prepare(sql),
      batch: async (statements: D1PreparedStatement[]) => {
        batches += 1;
        if (batches === 2) await act();
        return session.batch(statements);
      },
      getBookmark: () => session.getBookmark(),
    };
  };
  return { withSession } as unknown as D1Database;
}

/** Starts an approved deployment of a contributor, while something changes. */
async function startWhile(act: () => Promise<unknown>) {
  const mona = await joinProject(world, project.id, "contributor");
  const { id } = await newDeployment(mona.client, environmentId);
  expect((await approve(olga.client, id)).status).toBe(201);
  let acted = 0;
  const database = interruptedBy(async () => {
    await act();
    acted += 1;
  });
  const { claimed } = await Attempt.claim(pool.runner);
  const { fetch } = new Instrumented({ database });
  const { status } = await new Attempt(pool.runner.via(fetch), claimed).post("start");
  expect(acted).toBe(1);
  const { body } = await world.client.get(`/v1/deployments/${id}`);
  const codes = (body.waiting_for ?? []).map(({ code }: Parsed) => code);
  return [status, body.status, ...codes];
}

const setRole = (person: Person, role: string) =>
  world.client.put(`/v1/projects/${project.id}/members/${person.membershipId}`, { role });

async function edit() {
  const path = `/v1/environments/${environmentId}`;
  const { body } = await world.client.get(path);
  return world.client.put(path, { name: body.name, configuration: { replicas: 5 } });
}

const freeze = () =>
  world.client.post(
    `/v1/projects/${project.id}/freezes`,
    newFreeze({ starts_at: new Date(Date.now() - 1_000).toISOString() }),
  );

describe("a start during which", () => {
  const CHANGES: Record<string, [act: () => Promise<unknown>, code: string]> = {
    "who has approved loses the role": [() => setRole(olga, "contributor"), "approvals"],
    "the configuration is edited": [edit, "approvals"],
    "the rules get stricter": [
      () => protect(world.client, environmentId, rulesWith(2)),
      "approvals",
    ],
    "a freeze begins": [freeze, "freeze"],
  };

  it.each(Object.entries(CHANGES))("%s is refused", async (_, [act, code]) => {
    expect(await startWhile(act)).toEqual([409, "queued", code]);
  });

  it("somebody else loses the role starts", async () => {
    const other = await joinProject(world, project.id, "owner");
    expect(await startWhile(() => setRole(other, "viewer"))).toEqual([200, "in_progress"]);
  });
});
