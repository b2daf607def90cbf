import { drizzle } from "drizzle-orm/d1";
import { applyMigrations } from "../scripts/lib/migrations.ts";
import { bundle, start } from "../scripts/lib/workers.ts";
import { seedDeployments } from "../scripts/seed/deployments.ts";
import type { HistorySize } from "../scripts/seed/history-size.ts";
import { addKeys, seedOrganization } from "../scripts/seed/organization.ts";
import { connectAndAddStacks, type SeededProject } from "../scripts/seed/projects.ts";
import { seedResources } from "../scripts/seed/resources.ts";
import type { Actor } from "../src/actor.ts";
import { batch } from "../src/db/batch.ts";
import { insertProject } from "../src/features/projects/projects/store.ts";
import { LIMITS } from "../src/lib/limits.ts";
import { renderTable } from "./report.ts";
import { makeProject } from "./seed.ts";

const PAGES = 100;
const HEAD = ["list", "filter", "page", "items", "rows sent", "rows read", "statements"];
const MANY_STACKS = LIMITS.stacksOfEnvironment.value;
const DEPLOYMENTS_OF_MANY_STACKS = 200;
const OLDEST_FIRST = "sort_by=%2Bcreated_at";
const SEVERAL = "status=failed,canceled,queued";
const ALL_BUT_ONE = "status=queued,in_progress,canceling,failed,canceled,superseded";

interface List {
  name: string;
  filter?: string;
  path: string;
  query?: string;
  asMember?: true;
}

/** The queries of one page. */
interface PageCost {
  page: number;
  items: number;
  /** The items and their stacks. */
  sent: number;
  read: number;
  statements: number;
  trips: number;
}

/** Counts the rows that each list reads in a long history, on its first and on a late page. */
export async function measureLists(size: HistorySize, folder: string): Promise<string> {
  const worker = await start(bundle("bench/counting-worker.ts", folder), {});
  try {
    await applyMigrations(worker.d1);
    const { owner, member, project } = await seedOrganization(worker.d1, size);
    const rows: string[][] = [];
    const large = await addLargeProject(worker.d1, owner);
    for (const list of [...listsOf(project), ...listsOfLarge(large)]) {
      // A new key for each list, so that none reaches its rate limit of 300 per minute.
      const [key = ""] = await addKeys(worker.d1, list.asMember ? member : owner, 1);
      const url = new URL(`${list.path}?${list.query ?? ""}`, worker.url);
      const costs = await measurePages(url, key);
      rows.push(...costs.map((cost) => toCells(list, cost)));
    }
    return renderTable(HEAD, rows);
  } finally {
    await worker.stop();
  }
}

async function addLargeProject(d1: D1Database, owner: Actor): Promise<SeededProject> {
  const project = makeProject(owner.organizationId, "many-stacks");
  const first = { environmentName: "production", ownerId: owner.membershipId };
  await batch(drizzle(d1), insertProject(drizzle(d1), project, first));
  const names = Array.from({ length: MANY_STACKS }, (_, at) => `stack-${at}`);
  const large = await connectAndAddStacks(d1, project, names);
  await seedDeployments(d1, large, DEPLOYMENTS_OF_MANY_STACKS);
  await seedResources(d1, large, MANY_STACKS * 10);
  return large;
}

function listsOfLarge({ environmentId, stackIds: [stackId = ""] }: SeededProject): List[] {
  const filter = `${MANY_STACKS} stacks`;
  const environment = `/v1/environments/${environmentId}`;
  return [
    { name: "deployments of an environment", filter, path: `${environment}/deployments` },
    { name: "deployments of a stack", filter, path: `/v1/stacks/${stackId}/deployments` },
    { name: "resources of an environment", filter, path: `${environment}/resources` },
    { name: "stacks of an environment", filter, path: `${environment}/stacks` },
  ];
}

function listsOf({ environmentId, stackIds: [stackId = ""] }: SeededProject): List[] {
  const ofOrganization = "/v1/deployments";
  const ofEnvironment = `/v1/environments/${environmentId}/deployments`;
  const ofStack = `/v1/stacks/${stackId}/deployments`;
  return [
    ...withFilters("deployments, to an admin", ofOrganization),
    ...withFilters("deployments, to a member", ofOrganization).map((list) => ({
      ...list,
      asMember: true as const,
    })),
    ...withFilters("deployments of an environment", ofEnvironment),
    ...withFilters("deployments of a stack", ofStack),
    {
      name: "resources of an environment",
      path: `/v1/environments/${environmentId}/resources`,
    },
    { name: "resources of a stack", path: `/v1/stacks/${stackId}/resources` },
  ];
}

function withFilters(name: string, path: string): List[] {
  return [
    { name, path },
    // Only the newest are queued, so a scan from the oldest would read all other rows.
    { name, filter: "queued, oldest first", path, query: `status=queued&${OLDEST_FIRST}` },
    { name, filter: "three statuses", path, query: SEVERAL },
    { name, filter: "six statuses", path, query: ALL_BUT_ONE },
  ];
}

/** The costs of the first page and of page 100, or of the last page. */
async function measurePages(url: URL, key: string): Promise<PageCost[]> {
  // Warms the credential cache.
  await ask(url, key, 1);
  const first = await ask(url, key, 1);
  let last = first;
  while (last.next !== undefined && last.cost.page < PAGES) {
    url.searchParams.set("after", last.next);
    last = await ask(url, key, last.cost.page + 1);
  }
  return last === first ? [first.cost] : [first.cost, last.cost];
}

async function ask(url: URL, key: string, page: number) {
  const response = await fetch(url, { headers: { "x-api-key": key } });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}: ${text}`);
  const { data, next_page } = JSON.parse(text) as {
    data: { stack_ids?: string[] }[];
    next_page?: string;
  };
  const count = (name: string) => Number(response.headers.get(`bench-${name}`));
  const cost: PageCost = {
    page,
    items: data.length,
    sent: data.reduce((sum, { stack_ids = [] }) => sum + 1 + stack_ids.length, 0),
    read: count("rowsRead"),
    statements: count("statements"),
    trips: count("trips"),
  };
  return { cost, next: next_page };
}

function toCells(list: List, cost: PageCost): string[] {
  const { page, items, sent, read, statements, trips } = cost;
  const asked = `${statements} in ${trips} trip${trips === 1 ? "" : "s"}`;
  return [list.name, list.filter ?? "", ...[page, items, sent, read].map(String), asked];
}
