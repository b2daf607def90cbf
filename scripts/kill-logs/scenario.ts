import { setTimeout as sleep } from "node:timers/promises";
import { CommandError } from "../../packages/server/src/command-error.ts";
import { call, type Run, startProcess } from "../lib/killable-process.ts";
import { createDeployment, type QueuedDeployment } from "./deployment.ts";
import { Follower } from "./follower.ts";
import { formsOfSecrets, makeOutput, SHOWN } from "./output.ts";
import { RunnerProcess } from "./runner.ts";
import { findInStorage } from "./stored-files.ts";

/** The process dies while the command prints. */
const KILLED_BETWEEN = { from: 0.1, to: 0.7 } as const;
const POLL_EVERY_MS = 20;
const RETRY_MS = 1_000;
const WITHIN_MS = 600_000;

export interface Scenario {
  run: Run & { port: number };
  /** Of the output of both stacks. */
  bytes: number;
  kills: number;
  disconnections: number;
  seed: number;
}

export interface ScenarioResult {
  /** What is wrong, in words. */
  problems: string[];
  bytes: number;
  storedBytes: number;
  /** Shares of the log that the follower had when the process was killed. */
  killedAt: number[];
  disconnections: number;
  /** Of the follower, with the first one and those after kills. */
  connections: number;
}

interface LogPage {
  data: { offset: number; text: string }[];
  next_page?: string;
  status: string;
  truncated: boolean;
}

/**
 * A runner runs a command that prints secrets, and a follower reads the log, while the process of the
 * Worker is killed and the follower is disconnected.
 */
export async function runScenario(scenario: Scenario): Promise<ScenarioResult> {
  const { run, bytes, disconnections, seed } = scenario;
  const deployment = await createDeployment(run);
  const expected = expectedLog(scenario, deployment.stackIds.length);
  const url = `http://127.0.0.1:${run.port}`;
  const log = `${url}/v1/deployments/${deployment.id}/logs`;
  const disconnectAt = Array.from(
    { length: disconnections },
    () => Math.random() * expected.length * 0.9,
  );
  const follower = new Follower(log, deployment.key, disconnectAt);
  const runner = new RunnerProcess({
    url,
    token: deployment.runnerToken,
    folder: run.folder,
    args: [Math.ceil(bytes / deployment.stackIds.length), seed, ...deployment.stackIds],
  });
  const signal = AbortSignal.timeout(WITHIN_MS);
  const killer = new Killer(run);
  try {
    await killer.start();
    const [end, killedAt] = await Promise.all([
      follower.followToEnd(signal),
      killer.killAt(scenario.kills, () => follower.position / expected.length, signal),
    ]);
    await runner.exited;
    const problems = [
      ...differences("the follower's text", follower.texts.join(""), toText(expected)),
      ...(await findDifferences(log, deployment, expected)),
      ...differences("the end", JSON.stringify(end), '{"status":"succeeded","truncated":false}'),
    ];
    await killer.stop();
    const { found, bytes: storedBytes } = findInStorage(
      run.folder,
      formsOfSecrets(),
      SHOWN.REGION.value,
    );
    problems.push(...found.map((form) => `the storage has ${JSON.stringify(form)}`));
    const { disconnections: made, connections } = follower;
    const counts = { bytes: expected.length, storedBytes, disconnections: made, connections };
    return { problems, killedAt, ...counts };
  } catch (error) {
    throw new Error(`The runner printed:\n${runner.output}`, { cause: error });
  } finally {
    await runner.stop();
    await killer.stop();
  }
}

/** The masked output of all stacks. */
function expectedLog({ bytes, seed }: Scenario, stacks: number): Buffer {
  const outputs = Array.from({ length: stacks }, (_, at) => [
    ...makeOutput(Math.ceil(bytes / stacks), seed + at),
  ]);
  return Buffer.concat(outputs.flat().map(({ masked }) => masked));
}

/** Kills and restarts the process of the Worker. */
class Killer {
  readonly #run: Run;
  #process: Awaited<ReturnType<typeof startProcess>> | undefined;

  constructor(run: Run) {
    this.#run = run;
  }

  async start(): Promise<void> {
    this.#process = await startProcess(this.#run);
  }

  async stop(): Promise<void> {
    await this.#process?.kill();
    this.#process = undefined;
  }

  /** Returns the progress at each kill. It is from 0 to 1. */
  async killAt(kills: number, progress: () => number, signal: AbortSignal): Promise<number[]> {
    const { from, to } = KILLED_BETWEEN;
    const killedAt: number[] = [];
    while (killedAt.length < kills) {
      const at = from + ((killedAt.length + Math.random()) / kills) * (to - from);
      while (progress() < at) await sleep(POLL_EVERY_MS, undefined, { signal });
      killedAt.push(progress());
      await this.stop();
      await this.start();
    }
    return killedAt;
  }
}

/** Of the download and of the pages, from the expected log. */
async function findDifferences(
  log: string,
  { key }: QueuedDeployment,
  expected: Buffer,
): Promise<string[]> {
  const download = await get(log, key, { accept: "text/plain" });
  const downloaded = Buffer.from(await download.arrayBuffer());
  const texts: string[] = [];
  let page: LogPage | undefined;
  let after: string | undefined = "0";
  while (after !== undefined) {
    const response = await get(`${log}?after=${after}`, key);
    page = (await response.json()) as LogPage;
    texts.push(...page.data.map(({ text }) => text));
    after = page.next_page;
  }
  const state = JSON.stringify([page?.status, page?.truncated]);
  return [
    ...differences("the download", downloaded.toString("latin1"), expected.toString("latin1")),
    ...differences("the pages", texts.join(""), toText(expected)),
    ...differences("the state of the log", state, '["sealed",false]'),
  ];
}

/** Waits when the rate is limited. */
async function get(url: string, key: string, headers: Record<string, string> = {}) {
  for (;;) {
    const response = await call(url, key, "GET", "", undefined, headers);
    if (response.ok) return response;
    const text = await response.text();
    if (response.status !== 429) throw new CommandError(`GET ${url}: ${response.status} ${text}`);
    await sleep(RETRY_MS);
  }
}

/** As JSON shows it: bytes that are not UTF-8 are U+FFFD. */
function toText(bytes: Buffer): string {
  return new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(bytes);
}

function differences(what: string, actual: string, expected: string): string[] {
  if (actual === expected) return [];
  let at = 0;
  while (at < actual.length && actual[at] === expected[at]) at += 1;
  const show = (text: string) => JSON.stringify(text.slice(Math.max(0, at - 40), at + 40));
  return [
    `${what} has ${actual.length} characters instead of ${expected.length}, and differs at ${at}: ` +
      `${show(actual)} instead of ${show(expected)}`,
  ];
}
