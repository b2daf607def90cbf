import { bundle, type RunningWorker, start } from "../scripts/lib/workers.ts";
import { systemClock } from "../src/lib/clock.ts";
import { newId } from "../src/lib/ids.ts";
import { load } from "./load.ts";
import { DATA, insertIntegrations, KEYRING } from "./outbox.ts";
import type { BenchmarkResult, Row } from "./report.ts";
import { insertSeed, makeSeed, migrateAndInsert, type Seed } from "./seed.ts";
import { pairedRatio, quantile, spread } from "./stats.ts";

const LONGEST_PATH = "/bench/longest";
/** Below the rate limit of a key in 60 s. */
const READS_PER_KEY = 80;
const KEYS = 6;
const READS_PER_SIDE = (READS_PER_KEY * KEYS) / 3;
const SEED_ROWS = 20_000;
/** To how many integrations an event goes. */
const SIZED_ROWS = 20_000;
const MAXIMUM_RUNS = 200;

/** Of another organization, one after the other, in ms. */
interface Reads {
  median: number;
  p90: number;
}

interface Run {
  alone: Reads;
  duringPurge: Reads;
  ms: number;
}

/**
 * Deletes an integration that has `count` deliveries with one attempt each, and runs the schedule
 * until they are purged.
 */
export async function measureGrowth(count: number, folder: string): Promise<BenchmarkResult> {
  const worker = await start(bundle("bench/growth-worker.ts", folder), {
    LONGEST_PATH,
    ENCRYPTION_KEYS: KEYRING,
    ALLOW_INSECURE_WEBHOOKS: "true",
  });
  try {
    const owner = await makeSeed(1);
    await migrateAndInsert(worker.d1, owner);
    const sizes = await measureSizes(worker.d1, owner);
    const [integration = ""] = await newIntegrations(worker.d1, owner, 1);
    await addDeliveries(worker.d1, owner, integration, count);
    const deletionMs = await deleteIntegration(worker, owner, integration);
    const runs: Run[] = [];
    while (runs.length < MAXIMUM_RUNS && (await countRows(worker.d1, "purges")) > 0) {
      runs.push(await measureRun(worker));
    }
    const longest = (await (await fetch(new URL(LONGEST_PATH, worker.url))).json()) as number;
    return {
      title: `Purge of an integration with ${count.toLocaleString("en-US")} deliveries, in ${runs.length} runs of the schedule`,
      rows: [
        {
          what: "longest round trip to D1, ms",
          measured: longest,
          goal: { bound: "at most", value: 1_000 },
        },
        { what: "DELETE, ms", measured: deletionMs },
        ...compareReads(runs),
        {
          what: "rows that are left",
          measured:
            (await countRows(worker.d1, "deliveries")) + (await countRows(worker.d1, "purges")),
          goal: { bound: "at most", value: 0 },
        },
        { what: "purge in total, s", measured: runs.reduce((sum, { ms }) => sum + ms, 0) / 1_000 },
        ...sizes,
      ],
    };
  } finally {
    await worker.stop();
  }
}

function newIntegrations(d1: D1Database, owner: Seed, count: number): Promise<string[]> {
  return insertIntegrations(d1, owner, { receiver: "http://localhost:1", count });
}

async function countRows(d1: D1Database, table: string): Promise<number> {
  return (await d1.prepare(`select count(*) as n from ${table}`).first<number>("n")) ?? Number.NaN;
}

async function deleteIntegration(
  { url }: RunningWorker,
  { project, keys: [key] }: Seed,
  integration: string,
): Promise<number> {
  const path = `/v1/projects/${project.id}/notification-integrations/${integration}`;
  const startedAt = performance.now();
  const headers = { "x-api-key": key?.key ?? "" };
  const { status } = await fetch(new URL(path, url), { method: "DELETE", headers });
  if (status !== 204) throw new Error(`The DELETE answered ${status}`);
  return performance.now() - startedAt;
}

/** Reads a project of a new organization before, during and after one run of the schedule. */
async function measureRun(worker: RunningWorker): Promise<Run> {
  const other = await makeSeed(KEYS);
  await insertSeed(worker.d1, other);
  const url = new URL(`/v1/projects/${other.project.id}`, worker.url);
  const keys = other.keys.map(({ key }) => key);
  const read = async (): Promise<Reads> => {
    const order = Array.from({ length: READS_PER_SIDE }, (_, at) => keys[at % KEYS] ?? "");
    const { latencies } = await load(url, order, 1);
    return { median: quantile(latencies, 0.5), p90: quantile(latencies, 0.9) };
  };
  // Warms the credential cache.
  await load(url, keys, 1);
  const before = await read();
  const startedAt = performance.now();
  const sweep = worker.sweep();
  const duringPurge = await read();
  await sweep;
  const ms = performance.now() - startedAt;
  const after = await read();
  const alone = {
    median: (before.median + after.median) / 2,
    p90: (before.p90 + after.p90) / 2,
  };
  return { duringPurge, alone, ms };
}

function compareReads(runs: readonly Run[]): Row[] {
  const of = (side: "alone" | "duringPurge", what: keyof Reads) =>
    runs.map((run) => run[side][what]);
  const ratio = (what: keyof Reads) => pairedRatio(of("duringPurge", what), of("alone", what));
  return [
    {
      what: "reads of another organization, during / without the purge, median",
      measured: ratio("median"),
      goal: { bound: "at most", value: 1.2 },
    },
    { what: "reads of another organization, during / without, p90", measured: ratio("p90") },
    { what: "a read without the purge, ms", measured: spread(of("alone", "median")) },
  ];
}

/** Finished deliveries with one attempt each, whose events the table `events` has. */
async function addDeliveries(
  d1: D1Database,
  seed: Seed,
  integration: string,
  count: number,
): Promise<void> {
  for (let rest = count; rest > 0; rest -= SEED_ROWS) {
    const rows = Math.min(rest, SEED_ROWS);
    await d1.batch([
      insertRows(d1, seed, { integration, rows }),
      d1
        .prepare(
          `insert into delivery_attempts select id, 1, organization_id, created_at, 120, 200, null, 'ok'
            from deliveries where integration_id = ? order by created_at desc, id desc limit ?`,
        )
        .bind(integration, rows),
    ]);
  }
}

function insertRows(
  d1: D1Database,
  { actor: { organizationId }, project }: Seed,
  { integration, rows }: { integration: string; rows: number },
): D1PreparedStatement {
  return d1
    .prepare(
      `with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ?1)
        insert into deliveries select substr(?2, 1, 17) || printf('%05d', n), ?3, ?4, ?5,
          substr(?2, 1, 17) || printf('%05d', n), 'deployments.succeeded', ?6, 'succeeded', 1,
          ?6, ?6, ?6, ?6, null
        from numbers`,
    )
    .bind(rows, newId(systemClock), organizationId, project.id, integration, systemClock.now());
}

async function measureSizes(d1: D1Database, seed: Seed): Promise<Row[]> {
  const [integration = ""] = await newIntegrations(d1, seed, 1);
  const rows = SIZED_ROWS;
  const sizeOf = async (statement: D1PreparedStatement) => {
    const before = await databaseSize(d1);
    await statement.run();
    return ((await databaseSize(d1)) - before) / rows;
  };
  const insertEvents = d1
    .prepare(
      `insert into events select id, organization_id, project_id, '1C4dSLTQ9wKmCkmG3EtMZp', type, ?1,
          created_at, created_at from deliveries where integration_id = ?2`,
    )
    .bind(DATA, integration);
  const delivery = await sizeOf(insertRows(d1, seed, { integration, rows }));
  const event = await sizeOf(insertEvents);
  const clear = ["events", "deliveries", "integrations"].map((table) =>
    d1.prepare(`delete from ${table}`),
  );
  await d1.batch(clear);
  return [
    { what: "bytes of a delivery", measured: delivery },
    { what: "bytes of an event", measured: event },
  ];
}

/** In bytes. */
async function databaseSize(d1: D1Database): Promise<number> {
  const { meta } = await d1.prepare("select 1").run();
  return meta.size_after;
}
