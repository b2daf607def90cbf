import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { bootstrap } from "../packages/server/src/first-key.ts";
import { newSecrets } from "../packages/server/src/secrets.ts";
import { findFreePort } from "../scripts/lib/port.ts";
import { runQuietly } from "../scripts/lib/workers.ts";
import { ROOT, WRANGLER } from "../scripts/lib/wrangler.ts";
import { load } from "./load.ts";
import { renderTable } from "./report.ts";
import { quantile } from "./stats.ts";

const KEYS = 72;
/** Together fewer than one membership may send in a minute. */
const REQUESTS_PER_KEY = 20;
const CONNECTIONS = 20;
/** Each asks for work every five seconds, as the server tells it to. A token is for fewer than 100. */
const RUNNERS = 500;
const RUNNERS_PER_TOKEN = 50;
const IDLE_MS = 30_000;
const ANSWERS_WITHIN_MS = 120_000;
const POLL_EVERY_MS = 100;

const { BOOTSTRAP_TOKEN } = newSecrets();
const SERVER = join(ROOT, "packages/server/dist/longshore-server.js");

/** How each is started with its data in a folder: the arguments of Node. */
const TARGETS: Record<string, (port: number, folder: string) => readonly string[]> = {
  Server: (port, folder) => [SERVER, "--port", String(port), "--data", join(folder, "data")],
  "Miniflare alone": (port, folder) => [
    join(import.meta.dirname, "server/miniflare.ts"),
    folder,
    String(port),
  ],
  "wrangler dev": (port, folder) => {
    runQuietly(["d1", "migrations", "apply", "DB", "--local", "--persist-to", folder]);
    const secrets = Object.entries(newSecrets()).filter(([name]) => name !== "BOOTSTRAP_TOKEN");
    const given = [["BOOTSTRAP_TOKEN", BOOTSTRAP_TOKEN], ...secrets];
    const variables = given.flatMap(([name, value]) => ["--var", `${name}:${value}`]);
    return [WRANGLER, "dev", "--port", String(port), "--persist-to", folder, ...variables];
  },
};

/** `longshore serve` beside the same Worker in Miniflare alone and in `wrangler dev`, one after another. */
export async function measureServer(folder: string): Promise<string> {
  execFileSync(process.execPath, [...process.execArgv, join(ROOT, "scripts/bundle.ts"), "server"]);
  const columns: string[][] = [];
  for (const [name, argumentsOf] of Object.entries(TARGETS)) {
    const own = join(folder, name.replaceAll(" ", "-"));
    mkdirSync(own);
    columns.push([name, ...(await measure(argumentsOf, own))]);
  }
  const what = [
    "",
    `GET /v1/projects, ${KEYS} keys, ${CONNECTIONS} at a time: requests per second`,
    "Its median, its 99th percentile",
    "Memory after it",
    "When idle: CPU, memory",
    "Until it answers",
    `${RUNNERS} idle runners: CPU, their 99th percentile`,
  ];
  const rows = what.map((label, row) => [label, ...columns.map((column) => column[row] ?? "")]);
  const [head = [], ...rest] = rows;
  return renderTable(head, rest);
}

async function measure(
  argumentsOf: (port: number, folder: string) => readonly string[],
  folder: string,
): Promise<string[]> {
  const port = await findFreePort();
  const args = argumentsOf(port, folder);
  const began = performance.now();
  const child = spawn(process.execPath, [...process.execArgv, ...args], {
    env: { ...process.env, BOOTSTRAP_TOKEN, WRANGLER_SEND_METRICS: "false" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (text) => {
    output += text;
  });
  try {
    const url = new URL(`http://127.0.0.1:${port}`);
    await untilHealthy(child, url);
    const seconds = (performance.now() - began) / 1000;
    const printed = () => /lsh_\w+/.exec(output)?.[0];
    const owner = (await bootstrapOnce(url)) ?? (await until(printed));
    const idle = await measureIdle(child);
    const keys = await createKeys(url, owner);
    const sent = Array.from({ length: REQUESTS_PER_KEY }, () => keys).flat();
    const { latencies, perSecond } = await load(new URL("/v1/projects", url), sent, CONNECTIONS);
    const [median, slow] = [quantile(latencies, 0.5), quantile(latencies, 0.99)];
    const { memory } = readUse(child);
    return [
      perSecond.toFixed(0),
      `${median.toFixed(0)} ms, ${slow.toFixed(0)} ms`,
      `${memory.toFixed(0)} MB`,
      `${(100 * idle.cpu).toFixed(2)} %, ${idle.memory.toFixed(0)} MB`,
      `${seconds.toFixed(1)} s`,
      await measureRunners(child, url, keys[0] ?? ""),
    ];
  } finally {
    const ended = once(child, "close");
    child.kill("SIGTERM");
    await ended;
  }
}

async function untilHealthy({ exitCode }: ChildProcess, url: URL): Promise<void> {
  await until(async () => {
    if (exitCode !== null) throw new Error(`It ended with ${exitCode}.`);
    const response = await fetch(new URL("/health", url)).catch(() => undefined);
    return response?.ok === true || undefined;
  });
}

async function until<T>(read: () => T | Promise<T>): Promise<NonNullable<T>> {
  const deadline = performance.now() + ANSWERS_WITHIN_MS;
  for (;;) {
    const value = await read();
    if (value !== undefined && value !== null) return value;
    if (performance.now() > deadline) throw new Error("It does not answer.");
    await sleep(POLL_EVERY_MS);
  }
}

/** Undefined for the server, which does it at its start. */
async function bootstrapOnce(url: URL): Promise<string | undefined> {
  await sleep(1000);
  return bootstrap(url.origin, BOOTSTRAP_TOKEN);
}

/** The response of a request that creates something. */
async function create(url: URL, key: string, path: string, body: object) {
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const request = { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(new URL(path, url), request);
  if (response.status !== 201) throw new Error(await response.text());
  return (await response.json()) as Record<
    "id" | "key" | "token" | "default_environment_id",
    string
  >;
}

async function organizationOf(url: URL, key: string): Promise<string> {
  const response = await fetch(new URL("/v1/orgs", url), { headers: { "x-api-key": key } });
  const { data } = (await response.json()) as { data: { id: string }[] };
  return `/v1/orgs/${data[0]?.id}`;
}

async function createKeys(url: URL, owner: string): Promise<string[]> {
  const path = `${await organizationOf(url, owner)}/api-keys`;
  const keys: string[] = [];
  while (keys.length < KEYS) {
    keys.push((await create(url, owner, path, { name: `bench ${keys.length}` })).key);
  }
  return keys;
}

/** Runners that find no work, over the time in which an idle server is measured. */
async function measureRunners(child: ChildProcess, url: URL, key: string): Promise<string> {
  const path = `${await organizationOf(url, key)}/runner-pools`;
  const project = await create(url, key, "/v1/projects", { name: "bench" });
  const environment_ids = [project.default_environment_id];
  const tokens: string[] = [];
  while (tokens.length < RUNNERS / RUNNERS_PER_TOKEN) {
    const pool = await create(url, key, path, { name: `bench ${tokens.length}`, environment_ids });
    const { token } = await create(url, key, `${path}/${pool.id}/tokens`, { name: "bench" });
    tokens.push(token);
  }
  const latencies: number[] = [];
  const end = performance.now() + IDLE_MS;
  const runner = async (index: number) => {
    const token = tokens[index % tokens.length] ?? "";
    await sleep((index / RUNNERS) * 5000);
    while (performance.now() < end) {
      const began = performance.now();
      const seconds = await claim(url, token, `runner-${index}`);
      latencies.push(performance.now() - began);
      await sleep(seconds * 1000);
    }
  };
  const before = readUse(child);
  await Promise.all(Array.from({ length: RUNNERS }, (_, index) => runner(index)));
  const cpu = (readUse(child).seconds - before.seconds) / (IDLE_MS / 1000);
  return `${(100 * cpu).toFixed(0)} %, ${quantile(latencies, 0.99).toFixed(0)} ms`;
}

/** Returns after how many seconds to ask again. */
async function claim(url: URL, token: string, name: string): Promise<number> {
  const response = await fetch(new URL("/v1/runner/claims", url), {
    method: "POST",
    headers: { "x-api-key": token, "content-type": "application/json" },
    body: JSON.stringify({ request_id: crypto.randomUUID(), runner: { name, version: "1.0.0" } }),
  });
  if (response.status !== 204) throw new Error(await response.text());
  return Number(response.headers.get("retry-after"));
}

async function measureIdle(child: ChildProcess) {
  const before = readUse(child);
  await sleep(IDLE_MS);
  const after = readUse(child);
  return { cpu: (after.seconds - before.seconds) / (IDLE_MS / 1000), memory: after.memory };
}

/** Seconds of CPU and megabytes of memory of a process and all that it has started, on Linux (proc_pid_stat(5)). */
function readUse({ pid }: ChildProcess): { seconds: number; memory: number } {
  const processes = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap(readProcess);
  const family = new Set([pid]);
  for (const { id, parent } of processes) if (family.has(parent)) family.add(id);
  const own = processes.filter(({ id }) => family.has(id));
  return {
    seconds: own.reduce((total, { ticks }) => total + ticks, 0) / 100,
    memory: (own.reduce((total, { pages }) => total + pages, 0) * 4096) / 1e6,
  };
}

/** None: it has ended meanwhile. */
function readProcess(id: string) {
  try {
    const text = readFileSync(`/proc/${id}/stat`, "utf8");
    // The name before it, in parentheses, may have spaces.
    const fields = text
      .slice(text.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
    const [parent = 0, user = 0, system = 0, pages = 0] = [1, 11, 12, 21].map((at) => fields[at]);
    return [{ id: Number(id), parent, ticks: user + system, pages }];
  } catch {
    return [];
  }
}
