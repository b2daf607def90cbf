import { env } from "cloudflare:workers";
import { getTableName } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { auditDays } from "../../src/features/housekeeping/audit/table.ts";
import { historyUsage, usage } from "../../src/features/housekeeping/usage/table.ts";
import { FEATURES } from "../../src/features/index.ts";
import type { Parsed, Reply } from "../support/client.ts";
import { type Operation, operations } from "../support/contract.ts";
import { createMissing } from "../support/created.ts";
import { Instrumented } from "../support/instruments.ts";
import { newIntegration } from "../support/integrations.ts";
import { type Ids, pathWith } from "../support/operations.ts";
import { copiesOf } from "../support/template.ts";
import {
  connect,
  join,
  newDeployment,
  newInside,
  newInvitation,
  newKey,
  newPool,
  newProject,
  newServiceAccount,
  newToken,
  newTrust,
  newWorld,
  signIn,
  type World,
} from "../support/world.ts";

const CALLERS = 5;
/** They count every write of their organization. */
const COUNTERS: readonly object[] = [usage, historyUsage, auditDays];

/** The DELETE operations without an entry in a changelog. */
const WITHOUT_ENTRY = [
  "deleteFreeze",
  "removeMember",
  "revokeInvitation",
  "revokeApiKey",
  "deleteRunnerPool",
  "deleteServiceAccount",
  "deleteTrust",
  "revokeSession",
  "revokeMemberSession",
  "revokeRunnerToken",
  // Deleting a project deletes its changelog.
  "deleteProject",
];

/**
 * Of a record with an ID, whose deletion leaves the key of the request: account.test.ts and
 * organization-deletion.test.ts test the others.
 */
const deletions = operations.filter(
  ({ method, path, operationId }) =>
    method === "DELETE" && path.endsWith("}") && operationId !== "deleteOrganization",
);
const cases = deletions.map((each) => [each.operationId, each] as const);

/** IDs of one record of each deletable type, by path parameter. */
async function newRecords(world: World, into?: { project: Parsed }): Promise<Ids> {
  const project = into?.project ?? (await newProject(world.client));
  const member = await join(world);
  const body = { member_ids: [member.membershipId] };
  await world.client.post(`/v1/projects/${project.id}/members`, body);
  const environments = `/v1/projects/${project.id}/environments`;
  const name = `n-${crypto.randomUUID()}`;
  const { body: staging } = await world.client.post(environments, { name });
  const pool = await newPool(world, [staging.id]);
  const serviceAccountId = await newServiceAccount(world);
  const ids = {
    ...(await newInside(world.client, staging.id)),
    org_id: world.id,
    project_id: project.id,
    membership_id: serviceAccountId,
    trust_id: await newTrust(world, { membershipId: serviceAccountId }),
    member_id: member.membershipId,
    key_id: member.keyId,
    invitation_id: (await newInvitation(world)).id,
    session_id: (await signIn(world)).sessionId,
    member_session_id: (await signIn(member)).sessionId,
    pool_id: pool.id,
    token_id: pool.tokenId,
    integration_id: (await newIntegration(world.client, project.id)).id,
  };
  const reads = operations.filter(({ path }) => deletions.some((each) => each.path === path));
  return { ...ids, ...(await createMissing(world.client, ids, reads)) };
}

const newFixture = copiesOf(async () => {
  const world = await newWorld();
  return { world, ids: await newRecords(world) };
});

/** Records that have as much as possible in common with those of `ids`. */
async function newSiblings(world: World, project: Parsed, ids: Ids): Promise<void> {
  const { member_id: membershipId = "", environment_id = "", pool_id = "" } = ids;
  await newRecords(world, { project });
  await newRecords(world);
  const other = await newProject(world.client);
  await world.client.post(`/v1/projects/${other.id}/members`, { member_ids: [membershipId] });
  await newInside(world.client, environment_id);
  await newPool(world, [environment_id]);
  await newToken(world, { id: pool_id });
  await newKey(world, { membershipId, role: "member" });
}

interface StoredRow {
  name: string;
  text: string;
  id: string | undefined;
}

/** The rows of an organization in all tables that have its ID, except its counts, which change. */
async function rowsOf(world: World): Promise<StoredRow[]> {
  const tables = FEATURES.flatMap(({ tables: each = [] }) => each.map(({ table }) => table));
  const found = tables
    .filter((table) => "organizationId" in table && !COUNTERS.includes(table))
    .map(async (table) => {
      const from = getTableName(table);
      const { results } = await env.DB.prepare(`select * from ${from} where organization_id = ?`)
        .bind(world.id)
        .all<{ id?: string }>();
      return results.map((row) => {
        const text = JSON.stringify(row);
        return { name: `${from} ${row.id ?? text}`, text, id: row.id };
      });
    });
  return (await Promise.all(found)).flat();
}

/** The ID of the deleted record, which is the last path parameter. */
const recordOf = (operation: Operation, ids: Ids) => pathWith(operation, ids).split("/").at(-1);

/** A database that runs the first query of all `count` sessions before any second query. */
function readingTogether(count: number): D1Database {
  let started = 0;
  let open = () => {};
  const allHaveRead = new Promise<void>((resolve) => {
    open = resolve;
  });
  const hold = async <Result>(isFirst: boolean, run: () => Promise<Result>): Promise<Result> => {
    if (!isFirst) await allHaveRead;
    try {
      return await run();
    } finally {
      if (isFirst) started += 1;
      if (started === count) open();
    }
  };
  const withSession = (constraint: string) => {
    const session = env.DB.withSession(constraint);
    let queries = 0;
    const query = <Result>(run: () => Promise<Result>) => {
      queries += 1;
      return hold(queries === 1, run);
    };
    const wrap = (bound: D1PreparedStatement) => ({
      bound,
      bind: (...params: unknown[]) => wrap(bound.bind(...params)),
      all: () => query(() => bound.all()),
      run: () => query(() => bound.run()),
      raw: () => query(() => bound.raw()),
    });
    return {
      prepare: (sql: string) => wrap(session.prepare(sql)),
      batch: (statements: { bound: D1PreparedStatement }[]) =>
        query(() => session.batch(statements.map(({ bound }) => bound))),
      getBookmark: () => session.getBookmark(),
    };
  };
  return { withSession } as unknown as D1Database;
}

/** A database whose target a test can replace. */
function replaceable() {
  let current: D1Database = env.DB;
  const withSession = (constraint: string) => current.withSession(constraint);
  return {
    database: { withSession } as unknown as D1Database,
    replace: (database: D1Database) => {
      current = database;
    },
  };
}

/** Sends concurrent DELETEs, each of which reads before any of them writes. */
async function deleteAtOnce(world: World, path: string): Promise<Reply[]> {
  const { database, replace } = replaceable();
  const isolate = new Instrumented({ database });
  const keys = await Promise.all(Array.from({ length: CALLERS }, () => newKey(world)));
  const callers = keys.map(({ client }) => client.via(isolate.fetch));
  // Warms the credential cache, so that the first query of a request is its own.
  await Promise.all(callers.map((caller) => caller.get("/v1/orgs")));
  replace(readingTogether(CALLERS));
  return Promise.all(callers.map((caller) => caller.delete(path)));
}

async function countEntries(recordId: string | undefined): Promise<number> {
  const count = await env.DB.prepare(
    "select count(*) as count from changelog_entries where record_id = ? and action = 'deleted'",
  )
    .bind(recordId)
    .first<number>("count");
  return count ?? 0;
}

describe("of several DELETEs of one record", () => {
  it.each(cases)("concurrent %s succeeds once, and the others get 404", async (id, operation) => {
    const { world, ids } = await newFixture();
    const replies = await deleteAtOnce(world, pathWith(operation, ids));
    const statuses = replies.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([204, ...Array(CALLERS - 1).fill(404)]);
    expect(await countEntries(recordOf(operation, ids))).toBe(WITHOUT_ENTRY.includes(id) ? 0 : 1);
  });

  it.each(cases)("sequential %s succeeds once, and then gets 404", async (id, operation) => {
    const { world, ids } = await newFixture();
    const path = pathWith(operation, ids);
    expect((await world.client.delete(path)).status).toBe(204);
    expect((await world.client.delete(path)).status).toBe(404);
    expect(await countEntries(recordOf(operation, ids))).toBe(WITHOUT_ENTRY.includes(id) ? 0 : 1);
  });
});

describe("a DELETE", () => {
  it.each(cases)(
    "with the purge, deletes the record and those that refer to it, and no other: %s",
    async (_, operation) => {
      const world = await newWorld();
      const project = await newProject(world.client);
      const ids = await newRecords(world, { project });
      await newSiblings(world, project, ids);
      const before = await rowsOf(world);
      const path = pathWith(operation, ids);
      expect((await world.client.delete(path)).status).toBe(204);
      await new Instrumented().sweep();
      const left = new Set((await rowsOf(world)).map(({ name }) => name));
      const deleted = before.filter(({ name }) => !left.has(name));
      expect(deleted).not.toEqual([]);
      const names = [...operation.path.matchAll(/\{(.+?)\}/g)].map(([, name]) => String(name));
      const pathIds = names.map((name) => String(ids[name]));
      const deletedIds = deleted.flatMap(({ id }) => id ?? []);
      const unrelated = deleted.filter(({ text, id }) => {
        const isNamed = pathIds.every((each) => text.includes(each));
        return !isNamed && !deletedIds.some((each) => each !== id && text.includes(each));
      });
      expect(unrelated.map(({ name }) => name)).toEqual([]);
    },
  );
});

describe("a record that cannot be deleted", () => {
  it.each([
    ["deleteProject", "project_id"],
    ["deleteEnvironment", "environment_id"],
    ["deleteStack", "stack_id"],
  ])("is a conflict for all of several DELETEs at once: %s", async (id, name) => {
    const { world, ids } = await newFixture();
    await connect(world.client, String(ids["project_id"]));
    await newDeployment(world.client, String(ids["environment_id"]));
    const operation = deletions.find(({ operationId }) => operationId === id);
    if (!operation) throw new Error(`There is no ${id}`);
    const replies = await deleteAtOnce(world, pathWith(operation, ids));
    expect(replies.map(({ status }) => status)).toEqual(Array(CALLERS).fill(409));
    for (const { body } of replies) expect(body.message).toContain("deployment");
    expect(await countEntries(ids[name])).toBe(0);
  });
});
