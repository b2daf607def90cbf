/**
 * `npm run test:kill-writes -- --creations N --kills K`: sends N creations with an `Idempotency-Key`,
 * kills the process of the Worker K times meanwhile, repeats each request until it has a response, and
 * verifies that there are N records and that equal keys got equal responses.
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
import { bundle, start } from "./lib/workers.ts";

const USAGE = "Usage: npm run test:kill-writes -- [--creations 1000] [--kills 20] [--serve]";
/** Of a key, with its repeats: below its rate limit. */
const CREATIONS_OF_KEY = 25;
/** Below the rate limit of the organization. */
const KEYS_OF_ORGANIZATION = 8;
const CONCURRENT_REQUESTS = 12;
/** One of so many answered requests is repeated. */
const REPEATED = 4;
/** Between requests to a process that is dead or not ready. */
const RETRY_MS = 100;
const RATE_LIMITED_MS = 1_000;

const SETTINGS = { ALLOW_NEW_ORGANIZATIONS: "true" };

interface Caller {
  key: string;
  /** The path of the environments of its own project. */
  path: string;
}

interface Answer {
  replayed: boolean;
  /** What equal keys get equal. */
  shown: string;
}

interface Counts {
  requests: number;
  lost: number;
  repeats: number;
  /** Requests whose first response was lost after the commit. */
  replayed: number;
  different: number;
}

async function create<Created>(url: string, key: string, path: string, body: object) {
  const response = await call(url, key, "POST", path, body);
  if (response.ok) return response.json() as Promise<Created>;
  throw new CommandError(`POST ${path}: ${response.status} ${await response.text()}`);
}

/** Keys with a project each. */
async function createCallers({ file, folder, bindings }: Run, count: number): Promise<Caller[]> {
  const worker = await start(file, bindings, { folder });
  try {
    const url = worker.url.origin;
    await applyMigrations(worker.d1);
    const first = (await bootstrap(url, bindings["BOOTSTRAP_TOKEN"] ?? "")) ?? "";
    const callers: Caller[] = [];
    while (callers.length < count) {
      const organization = { name: `organization ${callers.length}` };
      const created = await create<{ id: string; api_key: { key: string } }>(
        url,
        first,
        "/v1/orgs",
        organization,
      );
      const owner = created.api_key.key;
      const missing = Math.min(KEYS_OF_ORGANIZATION, count - callers.length);
      for (let at = 0; at < missing; at += 1) {
        const name = `key ${at}`;
        const path = `/v1/orgs/${created.id}/api-keys`;
        const { key } = await create<{ key: string }>(url, owner, path, { name });
        const project = await create<{ id: string }>(url, owner, "/v1/projects", { name });
        callers.push({ key, path: `/v1/projects/${project.id}/environments` });
      }
    }
    return callers;
  } finally {
    await worker.stop();
  }
}

/** Sends a creation until it has a response. */
async function createUntilAnswered(
  urlOf: () => string,
  { key, path }: Caller,
  at: number,
  counts: Counts,
): Promise<Answer> {
  for (;;) {
    counts.requests += 1;
    const answer = await sendCreation(urlOf(), { key, path }, at).catch((error: unknown) => {
      if (error instanceof CommandError) throw error;
      // The process is dead or not ready, or died before its response arrived.
      counts.lost += 1;
      return undefined;
    });
    if (answer) return answer;
    await sleep(RETRY_MS);
  }
}

/** Undefined if the request is to be repeated. */
async function sendCreation(
  url: string,
  { key, path }: Caller,
  at: number,
): Promise<Answer | undefined> {
  const body = { name: `e-${at}`, configuration: { number: at } };
  const headers = { "idempotency-key": `creation-${at}` };
  const response = await call(url, key, "POST", path, body, headers);
  const text = await response.text();
  if (response.status === 429) await sleep(RATE_LIMITED_MS);
  if ([429, 500, 503].includes(response.status)) return undefined;
  if (response.status !== 201) {
    throw new CommandError(`POST ${path}: ${response.status} ${text}`);
  }
  const shown = ["etag", "location"].map((name) => response.headers.get(name));
  return {
    replayed: response.headers.has("idempotency-replayed"),
    shown: JSON.stringify([text, ...shown]),
  };
}

/** Sends all creations; kills and restarts the process after random shares of them. */
async function createAll(run: Run, callers: readonly Caller[], creations: number, kills: number) {
  const counts: Counts = { requests: 0, lost: 0, repeats: 0, replayed: 0, different: 0 };
  const answers = new Map<number, Answer>();
  let worker = await startProcess(run);
  const urlOf = () => worker.url;
  const killAfter = Array.from({ length: kills }, () => Math.floor(Math.random() * creations));
  killAfter.sort((a, b) => a - b);
  let next = 0;
  const produce = async () => {
    for (let at = next++; at < creations; at = next++) {
      const caller = callers[at % callers.length];
      if (!caller) throw new CommandError("There are no callers");
      const answer = await createUntilAnswered(urlOf, caller, at, counts);
      if (answer.replayed) counts.replayed += 1;
      answers.set(at, answer);
      if (Math.random() * REPEATED >= 1) continue;
      counts.repeats += 1;
      const repeated = await createUntilAnswered(urlOf, caller, at, counts);
      if (repeated.shown !== answer.shown || !repeated.replayed) counts.different += 1;
    }
  };
  const kill = async () => {
    for (const after of killAfter) {
      while (answers.size < after) await sleep(1);
      // Somewhere between two responses.
      await sleep(Math.random() * 10);
      await worker.kill();
      worker = await startProcess(run);
    }
  };
  try {
    await Promise.all([kill(), ...Array.from({ length: CONCURRENT_REQUESTS }, produce)]);
  } finally {
    await worker.killAll();
  }
  return { answers, counts };
}

/** Reads the database after the last process has died. */
async function readState({ file, folder, bindings }: Run) {
  const { d1, stop } = await start(file, bindings, { folder });
  try {
    const count = async (sql: string) => Number(await d1.prepare(sql).first("count"));
    const { results } = await d1
      .prepare("select id, name from environments where name like 'e-%'")
      .all<{ id: string; name: string }>();
    return {
      environments: results,
      records: await count("select count(*) as count from idempotency_records"),
      entries: await count(
        `select count(*) as count from changelog_entries
          where record_type = 'environment' and record_name like 'e-%'`,
      ),
    };
  } finally {
    await stop();
  }
}

/** Returns what is wrong, in words. */
function findProblems(
  { environments, records, entries }: Awaited<ReturnType<typeof readState>>,
  { answers, counts }: Awaited<ReturnType<typeof createAll>>,
  creations: number,
): string[] {
  const idOf = new Map(environments.map(({ id, name }) => [name, id]));
  const unknown = [...answers].filter(
    ([at, { shown }]) => !shown.includes(String(idOf.get(`e-${at}`))),
  );
  const problems: Record<string, number> = {
    "creations have no record": creations - idOf.size,
    "creations have more than one record": environments.length - idOf.size,
    "responses show another record": unknown.length,
    "responses to repeats differ": counts.different,
    "records for repeats are missing": creations - records,
    "changelog entries are missing": creations - entries,
  };
  return Object.entries(problems).flatMap(([what, count]) =>
    count === 0 ? [] : [`${count} ${what}`],
  );
}

await runCommand(async () => {
  const options = {
    creations: { type: "string", default: "1000" },
    kills: { type: "string", default: "20" },
    serve: { type: "boolean", default: false },
  } as const;
  const { values } = readCommandLine(options, USAGE);
  const [creations, kills] = [Number(values.creations), Number(values.kills)];
  if (!(creations > 0 && kills >= 0)) throw new CommandError(USAGE, 2);
  const folder = mkdtempSync(join(tmpdir(), "longshore-kill-writes-"));
  try {
    const run: Run = {
      file: bundle("src/index.ts", join(folder, "bundle")),
      folder: join(folder, "state"),
      bindings: { ...newSecrets(), ...SETTINGS },
      isServer: values.serve,
    };
    if (values.serve) await writeServerPackage();
    const callers = await createCallers(run, Math.ceil(creations / CREATIONS_OF_KEY));
    const created = await createAll(run, callers, creations, kills);
    const state = await readState(run);
    const problems = findProblems(state, created, creations);
    const { requests, lost, repeats, replayed } = created.counts;
    console.log(
      `${creations} creations, ${kills} kills: ${state.environments.length} records, ` +
        `${requests} requests (${lost} without a response, ${repeats} repeated on purpose), ` +
        `${replayed} committed before their response was lost, ` +
        `${Math.round(performance.now() / 1_000)} s. ` +
        (problems.length > 0 ? `WRONG: ${problems.join(", ")}.` : "None lost, none extra."),
    );
    return problems.length > 0 ? 1 : 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
