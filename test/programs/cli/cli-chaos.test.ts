import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readEffort } from "../../effort.ts";
import { ChaosProxy } from "../support/chaos-proxy.ts";
import { CliUser } from "../support/cli.ts";
import { DeployedEnvironment } from "../support/deployed-environment.ts";
import { useService } from "../support/service.ts";

/** Of each outcome. The proof is with 100. */
const RUNS = readEffort().chaosRuns;
const CONCURRENT = 4;
const RUN_MS = 300_000;

const EXIT_CODES = { succeeded: 0, failed: 2, canceled: 3, superseded: 4 } as const;
type Outcome = keyof typeof EXIT_CODES;

const service = useService();
let proxy: ChaosProxy;

beforeAll(async () => {
  proxy = await ChaosProxy.start(service.url);
});

afterAll(() => proxy.close());

/** Ends the deployment that a command creates now, while the command follows it. */
async function end(
  environment: DeployedEnvironment,
  outcome: Outcome,
  previousId: string | undefined,
): Promise<void> {
  if (outcome === "superseded") {
    const newestId = async () => (await environment.list())[0]?.id;
    await expect.poll(newestId, { timeout: RUN_MS }).not.toBe(previousId);
    const before = proxy.cutStreams;
    await expect.poll(() => proxy.cutStreams, { timeout: RUN_MS }).toBeGreaterThan(before);
    await environment.deploy();
    return;
  }
  const started = await environment.start();
  for (let at = 0; at < 6; at++) {
    await started.print(at % 2, `line ${at}\n`);
    await sleep(Math.random() * 200);
  }
  await started.complete(outcome);
}

async function deployOnce(environment: DeployedEnvironment, outcome: Outcome) {
  const user = new CliUser({ LONGSHORE_URL: proxy.url, LONGSHORE_API_KEY: environment.apiKey });
  try {
    const args = ["deploy", "--wait", "-p", environment.projectId, "-e", "staging"];
    const [previous] = await environment.list();
    const ending = end(environment, outcome, previous?.id);
    const [result] = await Promise.all([user.runProcess(args), ending]);
    const lines = result.stdout.split("\n").map((line) => Number(line.split(" line ")[1] ?? -1));
    const ofEachStack = [0, 1].map((stack) =>
      lines.filter((line) => line >= 0 && line % 2 === stack),
    );
    return { status: result.status, lines: ofEachStack, result };
  } finally {
    user.remove();
  }
}

it.each(Object.keys(EXIT_CODES) as Outcome[])(
  "deploy --wait exits with the right code for %s, each line once, whatever happens to its connections",
  async (outcome) => {
    const cutBefore = proxy.cutStreams;
    const results: Awaited<ReturnType<typeof deployOnce>>[] = [];
    let left = RUNS;
    const work = async () => {
      const environment = await DeployedEnvironment.make(service);
      while (left > 0) {
        left -= 1;
        results.push(await deployOnce(environment, outcome));
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT }, work));
    const wrong = results.filter(({ status }) => status !== EXIT_CODES[outcome]);
    expect(wrong).toEqual([]);
    expect(results).toHaveLength(RUNS);
    const expected =
      outcome === "superseded"
        ? [[], []]
        : [
            [0, 2, 4],
            [1, 3, 5],
          ];
    expect(
      results.filter(({ lines }) => JSON.stringify(lines) !== JSON.stringify(expected)),
    ).toEqual([]);
    expect(proxy.cutStreams).toBeGreaterThan(cutBefore);
    expect(proxy.refused).toBeGreaterThan(0);
  },
  RUNS * RUN_MS,
);
