/**
 * `npm run test:kill -- --events N --kills K`: makes N events through the API, kills the process of
 * the Worker K times meanwhile, and verifies that every event is delivered and logged.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { bootstrap } from "../packages/server/src/first-key.ts";
import { newSecrets } from "../packages/server/src/secrets.ts";
import { CommandError, readCommandLine, runCommand } from "./lib/command.ts";
import { call, type Run, startProcess } from "./lib/killable-process.ts";
import { applyMigrations } from "./lib/migrations.ts";
import { writeServerPackage } from "./lib/server-package.ts";
import { VerifyingReceiver } from "./lib/verifying-receiver.ts";
import { bundle, start } from "./lib/workers.ts";

const USAGE = "Usage: npm run test:kill -- [--events 10000] [--kills 4] [--serve]";
/** Each organization has its own rate limit, and takes turns with the others. */
const EVENTS_OF_ORGANIZATION = 1_000;
const KEYS_OF_ORGANIZATION = 12;
const CONCURRENT_REQUESTS = 10;
const RETRIED_STATUSES = new Set([429, 500, 503]);
const POLL_EVERY_MS = 500;
const FINISH_WITHIN_MS = 600_000;
/** A claim, and the minute until the sweep. */
const CLAIM_AND_SWEEP_MS = 121_000;

const SETTINGS = { ALLOW_INSECURE_WEBHOOKS: "true", ALLOW_NEW_ORGANIZATIONS: "true" };

interface Tenant {
  keys: string[];
  projectId: string;
  environmentId: string;
}

interface Logged {
  event_id: string;
  status: string;
  recorded: number;
  succeeded: number;
}

async function create(url: string, key: string, path: string, body: object) {
  const response = await call(url, key, "POST", path, body);
  if (response.ok) return response.json() as Promise<Record<string, string>>;
  throw new CommandError(`POST ${path}: ${response.status} ${await response.text()}`);
}

/** Organizations with keys and a project, whose events go to the receiver. */
async function createTenants(
  { file, folder, bindings }: Run,
  receiver: VerifyingReceiver,
  count: number,
): Promise<Tenant[]> {
  const origin = await receiver.listen();
  const worker = await start(file, bindings, { folder });
  try {
    const url = worker.url.origin;
    await applyMigrations(worker.d1);
    const key = (await bootstrap(url, bindings["BOOTSTRAP_TOKEN"] ?? "")) ?? "";
    const tenants: Tenant[] = [];
    while (tenants.length < count) {
      const path = `/${tenants.length}`;
      const { secret, ...tenant } = await createTenant(url, key, `${origin}${path}`);
      receiver.expect(path, secret);
      tenants.push(tenant);
    }
    return tenants;
  } finally {
    await worker.stop();
  }
}

async function createTenant(url: string, key: string, target: string) {
  const created: unknown = await create(url, key, "/v1/orgs", { name: target });
  const { id, api_key } = created as { id: string; api_key: { key: string } };
  const keys = [api_key.key];
  while (keys.length < KEYS_OF_ORGANIZATION) {
    const name = `key ${keys.length}`;
    const { key = "" } = await create(url, api_key.key, `/v1/orgs/${id}/api-keys`, { name });
    keys.push(key);
  }
  const project = await create(url, api_key.key, "/v1/projects", { name: "before" });
  const { id: projectId = "", default_environment_id: environmentId = "" } = project;
  const integrations = `/v1/projects/${projectId}/notification-integrations`;
  const integration = { type: "webhook", configuration: { changelog: true }, url: target };
  const { secret = "" } = await create(url, api_key.key, integrations, integration);
  return { keys, projectId, environmentId, secret };
}

/** Makes the events; kills and restarts the process after random shares of them. */
async function makeEvents(run: Run, tenants: readonly Tenant[], events: number, kills: number) {
  let worker = await startProcess(run);
  const killAfter = Array.from({ length: kills }, () => Math.ceil(Math.random() * events));
  killAfter.sort((a, b) => a - b);
  let next = 0;
  let made = 0;
  const produce = async () => {
    for (let at = next++; at < events; at = next++) {
      const tenant = tenants[at % tenants.length];
      if (tenant) await rename(() => worker.url, tenant, at);
      made += 1;
    }
  };
  const kill = async () => {
    for (const after of killAfter) {
      while (made < after) await sleep(1 + Math.random() * 20);
      await worker.kill();
      worker = await startProcess(run);
    }
  };
  const producers = Array.from({ length: CONCURRENT_REQUESTS }, produce);
  await Promise.all([kill(), ...producers]);
  return worker;
}

/** Changes the name of the project, which makes an event. Tries until it is acknowledged. */
async function rename(urlOf: () => string, { keys, projectId, environmentId }: Tenant, at: number) {
  for (let tries = at; ; tries += 1) {
    try {
      const key = keys[tries % keys.length] ?? "";
      const path = `/v1/projects/${projectId}`;
      const response = await call(urlOf(), key, "PUT", path, {
        name: `name ${at}`,
        default_environment_id: environmentId,
      });
      if (response.ok) return;
      if (!RETRIED_STATUSES.has(response.status)) {
        throw new CommandError(`PUT ${path}: ${response.status} ${await response.text()}`);
      }
    } catch (error) {
      if (error instanceof CommandError) throw error;
      // The process is dead or not ready.
    }
    await sleep(100);
  }
}

/** Waits until all deliveries are final, without the time until claims of dead processes are swept. */
async function finish({ file, folder, bindings }: Run) {
  const { d1, sweep, stop } = await start(file, bindings, { folder });
  try {
    const overdue = d1.prepare(
      "update deliveries set due_at = due_at - ?1 where status = 'pending' and due_at > ?2",
    );
    await overdue.bind(CLAIM_AND_SWEEP_MS, 0).run();
    const pending = d1.prepare("select count(*) as count from deliveries where status = 'pending'");
    const deadline = Date.now() + FINISH_WITHIN_MS;
    for (;;) {
      await sweep();
      const row = await pending.first<{ count: number }>();
      if (row?.count === 0) break;
      if (Date.now() > deadline) throw new CommandError(`${row?.count} deliveries are pending.`);
      await sleep(POLL_EVERY_MS);
    }
    const deliveries = await d1
      .prepare(
        `select event_id, status, count(number) as recorded,
            count(case when status_code / 100 = 2 then 1 end) as succeeded
          from deliveries left join delivery_attempts on delivery_id = deliveries.id
          group by deliveries.id`,
      )
      .all<Logged>();
    const names = await d1
      .prepare(
        `select distinct project_id || ' ' || (data ->> '$.record.name') as name
          from events where type = 'changelog.created'`,
      )
      .all<{ name: string }>();
    return {
      deliveries: deliveries.results,
      names: new Set(names.results.map(({ name }) => name)),
    };
  } finally {
    await stop();
  }
}

/** Returns what is wrong, in words. */
function findProblems(
  { deliveries, names }: Awaited<ReturnType<typeof finish>>,
  receiver: VerifyingReceiver,
  expectedNames: readonly string[],
): string[] {
  const events = new Map(deliveries.map((each) => [each.event_id, each]));
  const requestsOf = (id: string) => receiver.requestsOf.get(id) ?? 0;
  const counts: Record<string, number> = {
    "changes have no event": expectedNames.filter((name) => !names.has(name)).length,
    "events have two deliveries": deliveries.length - events.size,
    "deliveries did not succeed": deliveries.filter(({ status }) => status !== "succeeded").length,
    "events did not arrive": deliveries.filter(({ event_id: id }) => requestsOf(id) === 0).length,
    "events arrived that do not exist": [...receiver.requestsOf.keys()].filter(
      (id) => !events.has(id),
    ).length,
    "requests were not verified": receiver.unverified,
    "deliveries have no success in the log": deliveries.filter(({ succeeded }) => succeeded === 0)
      .length,
    "deliveries have attempts in the log that the receiver did not get": deliveries.filter(
      ({ event_id: id, recorded }) => recorded > requestsOf(id),
    ).length,
  };
  return Object.entries(counts).flatMap(([what, count]) => (count > 0 ? [`${count} ${what}`] : []));
}

await runCommand(async () => {
  const options = {
    events: { type: "string", default: "10000" },
    kills: { type: "string", default: "4" },
    serve: { type: "boolean", default: false },
  } as const;
  const { values } = readCommandLine(options, USAGE);
  const [events, kills] = [Number(values.events), Number(values.kills)];
  if (!(events > 0 && kills >= 0)) throw new CommandError(USAGE, 2);
  const folder = mkdtempSync(join(tmpdir(), "longshore-kill-"));
  const receiver = new VerifyingReceiver();
  try {
    const run: Run = {
      file: bundle("src/index.ts", join(folder, "bundle")),
      folder: join(folder, "state"),
      bindings: { ...newSecrets(), ...SETTINGS },
      isServer: values.serve,
    };
    if (values.serve) await writeServerPackage();
    const count = Math.ceil(events / EVENTS_OF_ORGANIZATION);
    const tenants = await createTenants(run, receiver, count);
    const last = await makeEvents(run, tenants, events, kills);
    // The last process dies too, with whatever it is sending.
    await last.killAll();
    const found = await finish(run);
    const names = Array.from(
      { length: events },
      (_, at) => `${tenants[at % count]?.projectId} name ${at}`,
    );
    const problems = findProblems(found, receiver, names);
    const recorded = found.deliveries.reduce((sum, each) => sum + each.recorded, 0);
    console.log(
      `${events} changes, ${kills + 1} kills: ${found.deliveries.length} deliveries, ` +
        `${receiver.requests} requests (${receiver.requests - receiver.requestsOf.size} repeated), ` +
        `${recorded} of them in the log, ${Math.round(performance.now() / 1_000)} s. ` +
        (problems.length > 0 ? `WRONG: ${problems.join(", ")}.` : "None lost, none extra."),
    );
    return problems.length > 0 ? 1 : 0;
  } finally {
    receiver.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
