import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { MAXIMUM_BUNDLE_KB } from "../scripts/lib/bundle-gate.ts";
import { activeMs } from "../scripts/lib/cpu-profile.ts";
import { runQuietly } from "../scripts/lib/workers.ts";
import { ROOT } from "../scripts/lib/wrangler.ts";
import { type RecordedService, recordCheckout, startReplay } from "./micro/checkout.ts";
import type { BenchmarkResult, Goal, Row } from "./report.ts";
import { pairedRatio, quantile, shuffle, spread } from "./stats.ts";

const KILOBYTE = 1000;
const FIRST = "read a project";
const NO_OP = "export default { fetch: () => Response.json({ ok: true }) };";

/** `other` is another checkout. */
type Name = "ours" | "other";

/** A service as `wrangler deploy` uploads it. */
interface Upload extends RecordedService {
  name: Name;
  root: string;
  /** The file of the upload. */
  form: string;
}

/** Milliseconds of processor time. */
interface Times {
  /** The samples of V8's profiler in which it is not idle, which other work on the machine prolongs. */
  profile: number;
  /** Of the process, without that of a Worker that does nothing. */
  start: number;
  /** The same, with the first request. */
  withFirst: number;
}

type Round = ReadonlyMap<Name, Times>;
type ProcessTimes = Pick<Times, "start" | "withFirst">;

/**
 * Measures the processor time of a start, and of a start with the first request.
 * @param against The folder of another checkout, to compare with.
 */
export async function measureStartup(
  rounds: number,
  folder: string,
  against?: string,
): Promise<BenchmarkResult> {
  const uploads = [await upload("ours", ROOT, folder)];
  if (against !== undefined) {
    uploads.push(await upload("other", against, join(folder, "other")));
  }
  const run: Round[] = [];
  for (let round = 0; round < rounds; round += 1) run.push(await runRound(uploads, folder));
  return {
    title: `Processor time of a start, ${rounds} rounds`,
    rows: [...(against === undefined ? [] : compare(run)), ...describe(run, uploads)],
  };
}

async function upload(name: Name, root: string, folder: string): Promise<Upload> {
  const recorded = await recordCheckout(root, folder);
  const form = join(folder, "worker.bundle");
  runQuietly(["deploy", "--dry-run", "--outfile", form], root);
  return { ...recorded, name, root, form };
}

/** Each measurement of all, in a new random order. */
async function runRound(uploads: readonly Upload[], folder: string): Promise<Round> {
  const file = join(folder, "startup.cpuprofile");
  const profiles = new Map<Name, number>();
  for (const { name, root, form } of shuffle(uploads)) {
    runQuietly(["check", "startup", "--worker-bundle", form, "--outfile", file], root);
    profiles.set(name, activeMs(readFileSync(file, "utf8")));
  }
  const processes = new Map<string, ProcessTimes>();
  const noOps = uploads.slice(0, 1).map((each) => ({ ...each, name: "no-op", source: NO_OP }));
  for (const each of shuffle([...uploads, ...noOps])) {
    processes.set(each.name, await measureProcess(each));
  }
  const without = processes.get("no-op");
  const entries = uploads.map(({ name }): [Name, Times] => {
    const own = processes.get(name);
    const difference = (key: keyof ProcessTimes) =>
      (own?.[key] ?? Number.NaN) - (without?.[key] ?? Number.NaN);
    const profile = profiles.get(name) ?? Number.NaN;
    return [name, { profile, start: difference("start"), withFirst: difference("withFirst") }];
  });
  return new Map(entries);
}

/** Of a new process, until it has loaded the Worker, and until it has answered. */
async function measureProcess({
  root,
  source,
  settings,
  operations,
}: Omit<Upload, "name">): Promise<ProcessTimes> {
  const bindings = { ...settings, OPERATIONS: { [FIRST]: operations[FIRST] } };
  const workerd = await startReplay(root, source, bindings);
  const timeAfter = async (calls: number) => {
    const query = new URLSearchParams({ operation: FIRST, count: String(calls) });
    const url = new URL(`/bench/replay?${query}`, workerd.url);
    const response = await fetch(url, { method: "POST" });
    const time = workerd.cpuMicroseconds() / 1000;
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return time;
  };
  try {
    const start = await timeAfter(0);
    return { start, withFirst: await timeAfter(1) };
  } finally {
    await workerd.stop();
  }
}

const FIGURES: { what: string; key: keyof Times; goal: Goal }[] = [
  { what: "start-up, by profile", key: "profile", goal: { bound: "at most", value: 1.35 } },
  { what: "start-up", key: "start", goal: { bound: "at most", value: 1.35 } },
  {
    what: "start-up and first request",
    key: "withFirst",
    goal: { bound: "at most", value: 1.25 },
  },
];

function timesOf(run: readonly Round[], name: Name, key: keyof Times): number[] {
  return run.map((round) => round.get(name)?.[key] ?? Number.NaN);
}

function compare(run: readonly Round[]): Row[] {
  return FIGURES.flatMap(({ what, key, goal }) => {
    const [ours, other] = [timesOf(run, "ours", key), timesOf(run, "other", key)];
    return [
      { what: `${what}, new / old`, measured: pairedRatio(ours, other), goal },
      { what: `${what}, new / old, least`, measured: quantile(ours, 0) / quantile(other, 0) },
    ];
  });
}

function describe(run: readonly Round[], uploads: readonly Upload[]): Row[] {
  const times = uploads.flatMap(({ name }) =>
    FIGURES.flatMap(({ what, key }) => {
      const values = timesOf(run, name, key);
      return [
        { what: `${name}, ${what}, ms`, measured: spread(values) },
        { what: `${name}, ${what}, ms, least`, measured: quantile(values, 0) },
      ];
    }),
  );
  return [...times, ...uploads.map(describeSize)];
}

function describeSize({ name, source }: Upload): Row {
  const goal: Goal = { bound: "at most", value: MAXIMUM_BUNDLE_KB };
  const measured = gzipSync(source).length / KILOBYTE;
  return { what: `${name}, bundle, KB after gzip`, measured, ...(name === "ours" && { goal }) };
}
