import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../src/lib/clock.ts";
import { newId } from "../src/lib/ids.ts";
import type { Client, Parsed } from "./support/client.ts";
import { Instrumented } from "./support/instruments.ts";
import { expectIndexed, insertProjects } from "./support/lists.ts";
import { join, newKey, newWorld, type World } from "./support/world.ts";

const PROJECTS = 40;
const MINE = 4;
const DEPLOYMENTS = 2_000;
const LIMIT = 20;
/** Of each hundred, in turn. */
const STATUSES = ["failed", "canceled", "superseded", "queued"];

interface Planted {
  id: string;
  project: number;
  status: string;
  createdAt: number;
}

describe("the deployments of an organization", () => {
  let world: World;
  let member: Client;
  let everywhere: Client;
  let planted: Planted[];

  beforeAll(async () => {
    world = await newWorld();
    const person = await join(world);
    member = person.client;
    everywhere = (await newKey(world, { role: "member" })).client;
    const projects = Array.from({ length: PROJECTS }, () => newId(systemClock));
    // Times coincide, across projects and within them.
    planted = Array.from({ length: DEPLOYMENTS }, (_, at) => ({
      id: newId(systemClock),
      project: at % (PROJECTS - 1),
      status: STATUSES[at % 100] ?? "succeeded",
      createdAt: Math.floor(at / 90),
    }));
    await insertProjects(
      world,
      projects.map((id) => ({ id, createdAt: 0 })),
    );
    const insert = (sql: string, ...values: unknown[]) => env.DB.prepare(sql).bind(...values);
    await env.DB.batch([
      insert(
        `insert into environments (id, organization_id, project_id, name, configuration, created_at,
           updated_at) select value, ?2, value, 'e', '{}', 0, 0 from json_each(?1)`,
        JSON.stringify(projects),
        world.id,
      ),
      // The last has no deployments.
      insert(
        `insert into project_members (project_id, membership_id, organization_id, role, created_at,
           project_created_at) select value, ?2, ?3, 'viewer', 0, 0 from json_each(?1)`,
        JSON.stringify(projects.slice(-MINE)),
        person.membershipId,
        world.id,
      ),
      insert(
        `insert into deployments (id, organization_id, project_id, environment_id, number, status,
           queue, patch, configuration, created_at, updated_at)
         select value ->> 'id', ?2, ?3 ->> (value ->> 'project'), ?3 ->> (value ->> 'project'),
           key, value ->> 'status', 'fifo', '[]', '{}', value ->> 'createdAt', 0
         from json_each(?1)`,
        JSON.stringify(planted),
        world.id,
        JSON.stringify(projects),
      ),
    ]);
  });

  const callers = {
    "a member of few projects": () => ({ client: member, mine: MINE, merged: MINE }),
    "a member of every project": () => ({ client: everywhere, mine: PROJECTS, merged: PROJECTS }),
    "an admin": () => ({ client: world.client, mine: PROJECTS, merged: 0 }),
  };
  const cases = Object.entries(callers).flatMap(([name, caller]) =>
    ["+created_at", "-created_at"].flatMap((order) =>
      [
        "",
        "failed",
        "failed,canceled",
        "failed,canceled,superseded,queued,in_progress,canceling",
      ].map((status) => [name, order, status, caller] as const),
    ),
  );

  it.each(cases)(
    "(for %s, %s, %s) come in order, each once, and cost what the page and the projects do",
    async (_, order, status, caller) => {
      const { client, mine, merged } = caller();
      const statuses = status === "" ? [] : status.split(",");
      const worker = new Instrumented();
      const filter = status === "" ? "" : `&status=${status}`;
      const path = `/v1/deployments?sort_by=${order}&limit=${LIMIT}${filter}`;
      const expected = expectedOf(mine, statuses, order);
      const seen: string[] = [];
      for (let after = ""; seen.length < 5 * LIMIT; ) {
        const { body } = await client.via(worker.fetch).get(path + after);
        seen.push(...body.data.map(({ id }: Parsed) => id));
        if (!body.has_more) break;
        after = `&after=${body.next_page}`;
      }
      expect(seen).toEqual(expected.slice(0, 5 * LIMIT));
      await expectIndexed(worker.database, LIMIT, merged * Math.max(1, statuses.length));
    },
  );

  function expectedOf(mine: number, statuses: readonly string[], order: string): string[] {
    const ascending = planted
      .filter(({ project }) => project >= PROJECTS - mine)
      .filter((each) => statuses.length === 0 || statuses.includes(each.status))
      .toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
      .map(({ id }) => id);
    return order.startsWith("+") ? ascending : ascending.toReversed();
  }
});
