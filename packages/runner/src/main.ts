/**
 * `npm run runner`: the reference runner. It claims deployments of its pool, one at a time, and runs
 * a command for each stack. docs/runners.md says how the runner plane works.
 */
import { randomUUID } from "node:crypto";
import { Api, pause, Unanswered } from "./api.ts";
import { carryOut, type Result, release, type Signals } from "./attempt.ts";
import { runScript } from "./errors.ts";
import { type Options, readOptions } from "./options.ts";
import type { Claim } from "./api-types.ts";

const CLAIM_EVERY_MS = 5_000;
/** One Ctrl-C may arrive twice: from the terminal, and from the npm that has it too. */
const SAME_SIGNAL_MS = 1_000;

await runScript(async () => {
  const options = readOptions(process.argv.slice(2), process.env);
  return serve(options, new Api(options.url, options.token), listenToSignals());
});

async function serve(options: Options, api: Api, signals: Signals): Promise<number> {
  console.log(`Waiting for deployments of ${options.url}, as process ${process.pid}.`);
  while (true) {
    const claim = await claimNext(api, signals.ending);
    if (!claim) return 0;
    if (signals.ending.aborted) {
      await release(api, claim);
      return 0;
    }
    const result = await carryOut(api, claim, options, signals);
    console.log(`Deployment ${claim.deployment.id}: ${describe(result)}`);
    if (options.once) return result.status === "succeeded" ? 0 : 1;
    if (signals.ending.aborted) return 0;
  }
}

function describe({ status, reason }: Result): string {
  return reason === undefined ? `${status}.` : `${status} with ${reason}.`;
}

/**
 * The next attempt; undefined if this runner is to end. The ID of the request stays the same until
 * it is answered, so that an answer which got lost gives the same attempt, and not a second one.
 */
async function claimNext(api: Api, ending: AbortSignal): Promise<Claim | undefined> {
  while (!ending.aborted) {
    const call = { body: { request_id: randomUUID() }, signal: ending, giveUpAfterMs: Infinity };
    try {
      const answer = await api.call("POST", "/v1/runner/claims", call);
      // A late answer may bring an offer that has lapsed since.
      if (answer.status === 200 && answer.desired === "continue") return answer.body as Claim;
      if (answer.status !== 200) await pause(answer.retryAfterMs ?? CLAIM_EVERY_MS, ending);
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
    }
  }
  return undefined;
}

/** A signal asks to end; another one, later, to do so at once; a third is not discussed. */
function listenToSignals(): Signals {
  const steps = [new AbortController(), new AbortController()] as const;
  let count = 0;
  let lastAt = -SAME_SIGNAL_MS;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      const now = performance.now();
      if (now - lastAt < SAME_SIGNAL_MS) return;
      lastAt = now;
      const step = steps[count];
      count += 1;
      if (!step) process.exit(1);
      console.error(count === 1 ? `${signal}: ending.` : `${signal}: ending at once.`);
      step.abort();
    });
  }
  return { ending: steps[0].signal, force: steps[1].signal };
}
