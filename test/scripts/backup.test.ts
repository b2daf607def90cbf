import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { getTableName } from "drizzle-orm";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { BACKUP_TABLES } from "../../packages/server/src/backup/tables.ts";
import { FEATURES, SEALED_COLUMNS } from "../../src/features/index.ts";
import { sampleOf } from "../effort.ts";
import { isList, pathsOf, READS } from "../support/all-reads.ts";
import {
  backUp,
  countOf,
  deleteAllRows,
  expectExactUsage,
  expectNoOrphans,
  restoreLines,
  rowsIn,
} from "../support/backups.ts";
import { FullOrganization } from "../support/full-organization.ts";
import { newWalkFixture, VirtualTimeWorker, type WalkFixture } from "../walk/fixture.ts";
import {
  describeBreaches,
  installInvariants,
  removeInvariants,
  selectBreaches,
} from "../walk/invariants.ts";
import { Walk } from "../walk/random-walk.ts";

/** So that each list of history has more than a page of the backup. */
const ROWS = 5_000;
const PARALLEL_REQUESTS = 16;
/** Each table has fewer rows that are unlike the others: they are its oldest or its newest. */
const KEPT_READS = 15;
const SMALL_BACKUPS = 20;

beforeAll(async () => {
  await applyD1Migrations(env.RESTORED, env.TEST_MIGRATIONS);
});

beforeEach(async () => {
  await deleteAllRows(env.RESTORED);
});

// They also refuse rows that are inserted in the middle of a life, as restores do.
afterEach(async () => {
  await removeInvariants();
  await deleteAllRows(env.DB);
});

/** What ends while the backup is made is counted by day, and may not be over in the backup. */
const AHEAD = /^a deployment is not counted once/;

async function findBreaches(fixture: Pick<WalkFixture, "worldId" | "environments">) {
  const { results } = await selectBreaches(fixture, env.RESTORED).all<Record<string, string>>();
  return describeBreaches(results).filter((breach) => !AHEAD.test(breach));
}

/** In the order of their IDs. */
function sampleReads(paths: readonly string[]): string[] {
  const sorted = paths.toSorted();
  return [
    ...sorted.slice(0, KEPT_READS),
    ...sampleOf(sorted.slice(KEPT_READS, -KEPT_READS), env.EFFORT.backupReadStride, 0),
    ...sorted.slice(Math.max(KEPT_READS, sorted.length - KEPT_READS)),
  ];
}

/** Sends the same requests to both databases, at the same time of the same clock. */
class Comparison {
  readonly #key: string;
  readonly #original = new VirtualTimeWorker();
  readonly #restored = new VirtualTimeWorker(env.RESTORED);
  requests = 0;

  constructor(key: string) {
    this.#key = key;
    this.#restored.now = this.#original.now;
  }

  /** Returns the cursor of the next page. */
  async expectSame(path: string, key = this.#key, headers = {}): Promise<string | undefined> {
    const [original, restored] = await Promise.all([
      this.#original.call(key, "GET", path, undefined, headers),
      this.#restored.call(key, "GET", path, undefined, headers),
    ]);
    expect(original.status, original.text).toBe(200);
    // The schedule counts restored history again, and the resources of stacks; no backup has sessions.
    const withoutUse = (text: string) =>
      text.replaceAll(
        /"last_used_at":"[^"]*",?|"history":\{.*?\}\},?|"(bytes|stacks|others)":\{"used":.*?\},?/g,
        "",
      );
    expect(withoutUse(restored.text), path).toBe(withoutUse(original.text));
    this.requests += 1;
    return original.body.next_page;
  }

  async expectSameList(path: string): Promise<void> {
    for (let next: string | undefined = "first"; next !== undefined; ) {
      const after = next === "first" ? "" : `&after=${next}`;
      next = await this.expectSame(`${path}?limit=240${after}`);
    }
  }

  async expectSameReads(organizationId: string): Promise<void> {
    // The lists first: other reads leave records, which are listed.
    const lists: (() => Promise<unknown>)[] = [];
    const others: (() => Promise<unknown>)[] = [];
    for (const operation of READS.filter(({ operationId }) => operationId !== "listSessions")) {
      const paths = sampleReads(await pathsOf(operation, organizationId));
      expect(paths.length, operation.operationId).toBeGreaterThan(0);
      if (isList(operation)) lists.push(...paths.map((path) => () => this.expectSameList(path)));
      else others.push(...paths.map((path) => () => this.expectSame(path)));
    }
    await this.#runAll(lists);
    await this.#runAll(others);
  }

  async #runAll(tasks: readonly (() => Promise<unknown>)[]): Promise<void> {
    for (let at = 0; at < tasks.length; at += PARALLEL_REQUESTS) {
      await Promise.all(tasks.slice(at, at + PARALLEL_REQUESTS).map((task) => task()));
    }
  }
}

describe("a backup", () => {
  it("contains every table of every feature, except those that give a reason", () => {
    const expected = FEATURES.flatMap(({ tables = [] }) => tables)
      .filter(({ notInBackups }) => notInBackups === undefined)
      .map(({ table }) => getTableName(table));
    expect([...BACKUP_TABLES.keys()].toSorted()).toEqual(expected.toSorted());
    expect(expected.length).toBeGreaterThan(20);
  });

  it("made while others write restores every record, with its responses, counts and invariants", async () => {
    const full = await FullOrganization.create(ROWS);
    await installInvariants();
    const worker = new VirtualTimeWorker();
    const fixture = await newWalkFixture(worker);
    const walk = new Walk(7, worker, fixture);
    const written = walk.run(100);
    const lines = await backUp();
    await written;
    const saved = rowsIn(lines, "deployments").filter(
      ({ organization_id }) => organization_id === fixture.worldId,
    );
    expect(saved.length).toBeLessThan(await countOf("deployments", fixture.worldId));
    const isSmall = (name: string) => rowsIn(lines, name).length < 2;
    expect([...BACKUP_TABLES.keys()].filter(isSmall)).toEqual(["bootstraps"]);
    expect(lines.length).toBeGreaterThan(ROWS);

    const report = await restoreLines(lines);
    const comparison = new Comparison(String(full.world.client.key));
    await comparison.expectSameReads(full.world.id);
    await comparison.expectSame("/v1/runner/attempts", full.runnerKey);
    const variables = `/v1/runner/attempts/${full.attemptId}/variables`;
    await comparison.expectSame(variables, full.runnerKey, { "lease-token": full.leaseToken });
    expect(comparison.requests).toBeGreaterThan(500);
    expect(report.skippedRows.filter((row) => full.ids.has(row.split(" ")[1] ?? ""))).toEqual([]);
    await expectSameSealedValues();
    await expectNoOrphans();
    await expectExactUsage();
    expect(await findBreaches(fixture)).toEqual([]);
  });

  it("of an organization is consistent whenever it is made between users and runners", async () => {
    await installInvariants();
    const worker = new VirtualTimeWorker();
    const fixture = await newWalkFixture(worker);
    let isWriting = true;
    const written = new Walk(11, worker, fixture).run(150).finally(() => {
      isWriting = false;
    });
    const statuses = new Set<unknown>();
    for (let made = 0; made < SMALL_BACKUPS && isWriting; made += 1) {
      const lines = await backUp(fixture.worldId);
      for (const { status } of rowsIn(lines, "deployments")) statuses.add(status);
      await deleteAllRows(env.RESTORED);
      await restoreLines(lines);
      expect(await findBreaches(fixture)).toEqual([]);
      await expectNoOrphans();
    }
    await written;
    expect(statuses.size).toBeGreaterThan(4);
    await expectExactUsage();
  });
});

async function expectSameSealedValues(): Promise<void> {
  for (const { table, column } of SEALED_COLUMNS) {
    const select = `select id, ${column} from ${table} where ${column} is not null order by id`;
    const [original, restored] = await Promise.all(
      [env.DB, env.RESTORED].map(async (each) => (await each.prepare(select).all()).results),
    );
    expect(restored, `${table}.${column}`).toEqual(original);
    expect(original?.length, `${table}.${column}`).toBeGreaterThan(1);
  }
}
