import { env } from "cloudflare:workers";
import { getTableName } from "drizzle-orm";
import { expect } from "vitest";
import { FEATURES } from "../../../src/features/index.ts";
import { projects } from "../../../src/features/tenancy/project-table.ts";
import type { Client, Parsed, Reply } from "../../support/client.ts";
import { type Operation, operations } from "../../support/contract.ts";
import { newKey } from "../../support/world.ts";
import { CASES, type Case, usualCase } from "./changelog-cases.ts";
import type { ChangelogFixture } from "./changelog-fixture.ts";

/** What they write is of the organization, or of a person. */
const OUTSIDE = /^\/v1\/(orgs|account|freezes|sessions|sign-in-links)/;

/** Other writes without an entry: rules, deliveries and reported states. Deleting a project deletes its changelog. */
export const WITHOUT_ENTRY = [
  ...["replaceProtection", "createApproval", "overrideDeployment", "createProjectFreeze"],
  ...["previewDeployment", "reportAlarm", "pingIntegration", "createRecovery", "redeliver"],
  "deleteProject",
];

export const writes = operations.filter(
  ({ method, security }) => method !== "GET" && security.some((each) => "api_key" in each),
);
export const recorded = writes
  .filter(({ operationId, path }) => !WITHOUT_ENTRY.includes(operationId) && !OUTSIDE.test(path))
  .map((each) => [each.operationId, each] as const);

export function caseOf(operation: Operation): Case {
  const special = CASES[operation.operationId];
  const { entries } = special ?? {};
  return entries ? { ...special, entries } : { ...usualCase(operation), ...special };
}

export async function pretendSuccess(id: string): Promise<void> {
  await env.DB.prepare("update deployments set status = 'succeeded' where id = ?").bind(id).run();
}

export const fill = (path: string, { ids }: ChangelogFixture) =>
  path.replaceAll(/\{(.+?)\}/g, (_, name: string) => String(ids[name]));

export function send(
  operation: Operation,
  fixture: ChangelogFixture,
  client: Client,
): Promise<Reply> {
  const body = caseOf(operation).body?.(fixture);
  return client.request(operation.method, fill(operation.path, fixture), body);
}

/** The changelog of a project, oldest first. */
export async function listChangelog(
  { world }: ChangelogFixture,
  projectId: string,
): Promise<Parsed[]> {
  const { client } = await newKey(world);
  const { body } = await client.get(
    `/v1/projects/${projectId}/changelog?sort_by=created_at&limit=240`,
  );
  return body.data;
}

/** Those of projects. The service writes some of their columns in the background. */
const TABLES = FEATURES.flatMap(({ tables = [] }) => tables.map(({ table }) => table))
  .filter((table) => "projectId" in table || table === projects)
  .map((table) => getTableName(table));

/** All rows of an organization as text, without the columns of deliveries that the queue consumer changes. */
async function dump({ world }: ChangelogFixture): Promise<string> {
  const tables = await Promise.all(
    TABLES.map(async (name) => {
      const columns = name === "deliveries" ? "id, integration_id, event_id, type" : "*";
      const all = env.DB.prepare(`select ${columns} from ${name} where organization_id = ?`);
      return (await all.bind(world.id).all()).results;
    }),
  );
  return JSON.stringify(tables);
}

/** Makes every insert of an entry of the organization fail; returns a function that ends this. */
async function refuseEntries({ world }: ChangelogFixture): Promise<() => Promise<unknown>> {
  const name = `refuse_${world.id}`;
  await env.DB.prepare(
    `create trigger ${name} before insert on changelog_entries
      when new.organization_id = '${world.id}' begin select raise(abort, 'refused'); end`,
  ).run();
  return () => env.DB.prepare(`drop trigger ${name}`).run();
}

/** A request that is forbidden, or whose entry cannot be written, changes nothing. */
export async function expectNothingWithoutEntry(
  operation: Operation,
  fixture: ChangelogFixture,
): Promise<void> {
  const before = await dump(fixture);
  if (operation.operationId !== "createProject") {
    expect((await send(operation, fixture, fixture.member.client)).status).toBe(403);
    expect(await dump(fixture)).toBe(before);
  }
  const allow = await refuseEntries(fixture);
  const { client } = await newKey(fixture.world);
  expect((await send(operation, fixture, client)).status).toBe(500);
  expect(await dump(fixture)).toBe(before);
  await allow();
}
