import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, it } from "vitest";
import { DEPLOYMENT_STATUSES } from "../../../src/features/deployments/deployments/lifecycle.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { newId } from "../../../src/lib/ids.ts";
import type { Client } from "../../support/client.ts";
import { expectIndexedPages, insertProjects } from "../../support/lists.ts";
import { join, newKey, newWorld, type World } from "../../support/world.ts";

const ROWS = 1_000;
const LIMIT = 20;
/** Rows with the same creation time, so that pages end between them. */
const TIES = 70;
const SIX_STATUSES = DEPLOYMENT_STATUSES.filter((status) => status !== "succeeded").join();

describe("every list of deployments, resources, alarms, changes, runners and deliveries", () => {
  let world: World;
  let admin: Client;
  let projectId: string;
  const environmentId = newId(systemClock);
  const stackId = newId(systemClock);
  const integrationId = newId(systemClock);

  beforeAll(async () => {
    world = await newWorld();
    const person = await join(world);
    projectId = newId(systemClock);
    const ids = Array.from({ length: ROWS }, () => newId(systemClock));
    // In another order than the deliveries, so that one cannot replace the other in a cursor.
    const eventIds = ids.map(() => newId(systemClock)).toReversed();
    const timeOf = (at: number) => Math.floor(at / TIES);
    await insertProjects(world, [{ id: projectId, createdAt: 0 }]);
    await insertProjects(
      world,
      ids.map((id, at) => ({ id, createdAt: timeOf(at) })),
    );
    const insert = (sql: string) => env.DB.prepare(sql);
    await env.DB.batch([
      insert(
        "insert into environments (id, organization_id, project_id, name, configuration, created_at, updated_at) values (?1, ?2, ?3, 'e', '{}', 0, 0)",
      ).bind(environmentId, world.id, projectId),
      insert(`insert into stacks (id, organization_id, project_id, environment_id, component_id, name,
           created_at, updated_at, record_version) values (?1, ?2, ?3, ?4, null, 's', 0, 0, 1)`).bind(
        stackId,
        world.id,
        projectId,
        environmentId,
      ),
      insert("insert into project_members values (?1, ?2, ?3, 'viewer', 0, 0, 1)").bind(
        projectId,
        person.membershipId,
        world.id,
      ),
      insert(
        `insert into integrations (id, organization_id, project_id, type, configuration, url,
           shown_url, created_at, updated_at) values (?1, ?2, ?3, 'webhook', '{}', '', '', 0, 0)`,
      ).bind(integrationId, world.id, projectId),
    ]);
    const statusOf = (at: number) => (at % 2 ? "failed" : "succeeded");
    const roles = ["viewer", "contributor", "viewer"];
    const statements = ids.flatMap((id, at) => [
      insert("insert into accounts values (?1, ?1, 'x', 'x', null, '{}', 0, 0, 1)").bind(id),
      insert(`insert into memberships
          (id, organization_id, account_id, role, created_at, updated_at)
          values (?1, ?2, ?1, 'member', ?3, 0)`).bind(id, world.id, at),
      insert(
        `insert into api_keys (id, organization_id, membership_id, name, role, secret_hash,
          last_four, version, expires_at, last_used_at, created_at)
          values (?1, ?2, ?1, 'x', 'member', ?1, 'abcd', 1, null, null, ?3)`,
      ).bind(id, world.id, at),
      insert("insert into project_members values (?1, ?2, ?3, ?4, ?5, 0, 1)").bind(
        projectId,
        id,
        world.id,
        roles[at % 3],
        at,
      ),
      insert(
        `insert into deployments (id, organization_id, project_id, environment_id, number, status,
           announced, queue, patch, configuration, created_at, updated_at)
           values (?1, ?2, ?3, ?4, ?5, ?6, ?6, 'fifo', '[]', '{}', ?7, 0)`,
      ).bind(id, world.id, projectId, environmentId, at, statusOf(at), timeOf(at)),
      insert(
        "insert into deployment_stacks values (?1, ?2, ?3, ?4, 0, 'succeeded', null, 0, 0, ?5, null)",
      ).bind(id, stackId, world.id, environmentId, timeOf(at)),
      insert(
        `insert into resources values (?1, ?2, ?3, ?4, ?5, ?1, 'p', 'x', 'CREATE_COMPLETE', null,
           0, ?6, 0)`,
      ).bind(id, world.id, projectId, environmentId, stackId, timeOf(at)),
      insert(
        `insert into deliveries values (?1, ?2, ?3, ?4, ?7, 'ping', 0, ?6, 0, 0, ?5, 0, 0, null)`,
      ).bind(id, world.id, projectId, integrationId, timeOf(at), statusOf(at), eventIds[at]),
      insert(
        `insert into runner_pools (id, organization_id, name, created_at, updated_at)
           values (?1, ?2, ?1, ?3, 0)`,
      ).bind(id, world.id, timeOf(at)),
      insert(
        `insert into alarms (id, stack_id, environment_id, name, organization_id, project_id, state,
           created_at, changed_at, updated_at) values (?1, ?2, ?7, ?5, ?3, ?4, 'ok', ?6, 0, 0)`,
      ).bind(id, stackId, world.id, projectId, `alarm ${at}`, timeOf(at), environmentId),
      insert(
        `insert into changelog_entries (id, organization_id, project_id, action, record_type,
           record_id, created_at) values (?1, ?2, ?3, 'updated', 'stack', ?4, ?5)`,
      ).bind(id, world.id, projectId, stackId, timeOf(at)),
      // The member has a role in every hundredth of the projects.
      ...(at % 10 === 0
        ? [
            insert("insert into project_members values (?1, ?2, ?3, 'viewer', ?4, ?4, 1)").bind(
              id,
              person.membershipId,
              world.id,
              at,
            ),
          ]
        : []),
    ]);
    for (let at = 0; at < statements.length; at += 500) {
      await env.DB.batch(statements.slice(at, at + 500));
    }
  });

  /** A new key for each test, because each key has its own rate limit. */
  beforeEach(async () => {
    admin = (await newKey(world)).client;
  });

  const deliveriesPath = () =>
    `/v1/projects/${projectId}/notification-integrations/${integrationId}/deliveries`;

  const lists = {
    deployments: () => ["/v1/deployments", admin],
    "deployments with one status": () => ["/v1/deployments?status=failed", admin],
    "deployments with two statuses": () => ["/v1/deployments?status=failed,succeeded", admin],
    "deployments of an environment": () => [`/v1/environments/${environmentId}/deployments`, admin],
    "deployments of an environment with two statuses": () => [
      `/v1/environments/${environmentId}/deployments?status=failed,succeeded`,
      admin,
    ],
    "deployments with six statuses": () => [`/v1/deployments?status=${SIX_STATUSES}`, admin],
    "deployments of an environment with six statuses": () => [
      `/v1/environments/${environmentId}/deployments?status=${SIX_STATUSES}`,
      admin,
    ],
    "deployments of a stack": () => [`/v1/stacks/${stackId}/deployments`, admin],
    "deployments of a stack with one status": () => [
      `/v1/stacks/${stackId}/deployments?status=failed`,
      admin,
    ],
    "deployments of a stack with two statuses": () => [
      `/v1/stacks/${stackId}/deployments?status=failed,succeeded`,
      admin,
    ],
    "resources of a stack": () => [`/v1/stacks/${stackId}/resources`, admin],
    "resources of an environment": () => [`/v1/environments/${environmentId}/resources`, admin],
    deliveries: () => [deliveriesPath(), admin],
    "deliveries with one status": () => [`${deliveriesPath()}?status=failed`, admin],
    "deliveries with two statuses": () => [`${deliveriesPath()}?status=failed,succeeded`, admin],
    "alarms of a stack": () => [`/v1/stacks/${stackId}/alarms`, admin],
    "changelog of a project": () => [`/v1/projects/${projectId}/changelog`, admin],
    "runner pools": () => [`/v1/orgs/${world.id}/runner-pools`, admin],
  } satisfies Record<string, () => [string, Client]>;

  const cases = Object.entries(lists).flatMap(([name, list]) =>
    ["+created_at", "-created_at"].map((order) => [name, order, list] as const),
  );

  it.each(cases)(
    "walks an index, and reads about as many rows as it returns (%s, %s)",
    async (_, order, list) => {
      const [path, client] = list();
      await expectIndexedPages(client, path, { sort_by: order, limit: LIMIT });
    },
  );
});
