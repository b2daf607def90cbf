import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/lib/clock.ts";
import { newId } from "../../../src/lib/ids.ts";
import type { Client, Parsed } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import { expectIndexed, insertProjects } from "../../support/lists.ts";
import { join, newKey, newWorld, type World } from "../../support/world.ts";

const PROJECTS = 40;
const MEMBER_PROJECTS = 4;
const DEPLOYMENTS = 2_000;
const LIMIT = 20;
/** Of the first four in each hundred. The others have succeeded. */
const STATUSES = ["failed", "canceled", "superseded", "queued"];

interface Inserted {
  id: string;
  project: number;
  number: number;
  status: string;
  createdAt: number;
}

/** The stack is newer than the first deployments, and the later ones do not all include it. */
const isOfStack = ({ project, createdAt, number }: Inserted) =>
  project === 0 && createdAt > 3 && number % 3 > 0;

describe("the deployments of an organization", () => {
  let world: World;
  let member: Client;
  let everywhere: Client;
  let inserted: Inserted[];
  const projects = Array.from({ length: PROJECTS }, () => newId(systemClock));
  const stackId = newId(systemClock);

  beforeAll(async () => {
    world = await newWorld();
    const person = await join(world);
    member = person.client;
    everywhere = (await newKey(world, { role: "member" })).client;
    // Half are in the first project, none in the last. Times coincide, across and within projects.
    inserted = Array.from({ length: DEPLOYMENTS }, (_, at) => ({
      id: newId(systemClock),
      project: at % 2 ? 0 : (at / 2) % (PROJECTS - 1),
      number: at,
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
      insert(
        `insert into project_members (project_id, membership_id, organization_id, role, created_at,
           project_created_at) select value, ?2, ?3, 'viewer', 0, 0 from json_each(?1)`,
        JSON.stringify(projects.slice(-MEMBER_PROJECTS)),
        person.membershipId,
        world.id,
      ),
      insert(
        `insert into deployments (id, organization_id, project_id, environment_id, number, status,
           queue, patch, configuration, created_at, updated_at)
         select value ->> 'id', ?2, ?3 ->> (value ->> 'project'), ?3 ->> (value ->> 'project'),
           key, value ->> 'status', 'fifo', '[]', '{}', value ->> 'createdAt', 0
         from json_each(?1)`,
        JSON.stringify(inserted),
        world.id,
        JSON.stringify(projects),
      ),
      insert(
        `insert into stacks (id, organization_id, project_id, environment_id, component_id, name,
           created_at, updated_at, record_version) values (?1, ?2, ?3, ?3, null, 's', 0, 0, 1)`,
        stackId,
        world.id,
        projects[0],
      ),
      insert(
        `insert into deployment_stacks (deployment_id, stack_id, organization_id, environment_id,
           position, status, seq, timestamp, deployment_created_at)
         select value ->> 'id', ?2, ?3, ?4, 0, 'succeeded', 0, 0, value ->> 'createdAt'
         from json_each(?1)`,
        JSON.stringify(inserted.filter(isOfStack)),
        stackId,
        world.id,
        projects[0],
      ),
    ]);
  });

  const own = ({ project }: Inserted) => project >= PROJECTS - MEMBER_PROJECTS;
  const first = ({ project }: Inserted) => project === 0;
  const lists = {
    "a member of few projects": () => list(member, "/v1/deployments", own, MEMBER_PROJECTS),
    "a member of every project": () => list(everywhere, "/v1/deployments", () => true, PROJECTS),
    "an admin": () => list(world.client, "/v1/deployments", () => true),
    "an environment": () =>
      list(world.client, `/v1/environments/${projects[0]}/deployments`, first),
    "a stack": () => list(world.client, `/v1/stacks/${stackId}/deployments`, isOfStack),
  };
  const list = (client: Client, path: string, shows: (each: Inserted) => boolean, merged = 0) => ({
    client,
    path,
    shows,
    merged,
  });
  const cases = Object.entries(lists).flatMap(([name, toList]) =>
    ["+created_at", "-created_at"].flatMap((order) =>
      [
        "",
        "failed",
        "failed,canceled",
        "failed,canceled,superseded,queued,in_progress,canceling",
      ].map((status) => [name, order, status, toList] as const),
    ),
  );

  it.each(cases)(
    "are listed in order, each once, at a cost of the page and the projects (%s, %s, %s)",
    async (_, order, status, toList) => {
      const { client, path: base, shows, merged } = toList();
      const statuses = status === "" ? [] : status.split(",");
      const worker = new Instrumented();
      const filter = status === "" ? "" : `&status=${status}`;
      const path = `${base}?sort_by=${order}&limit=${LIMIT}${filter}`;
      const expected = expectedOf(shows, statuses, order);
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

  function expectedOf(
    shows: (each: Inserted) => boolean,
    statuses: readonly string[],
    order: string,
  ): string[] {
    const ascending = inserted
      .filter(shows)
      .filter((each) => statuses.length === 0 || statuses.includes(each.status))
      .toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
      .map(({ id }) => id);
    return order.startsWith("+") ? ascending : ascending.toReversed();
  }
});
