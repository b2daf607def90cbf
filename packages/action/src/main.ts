/** The GitHub Action, as action.yml starts it. */
import { runAction } from "./action.ts";
import { Job } from "./job.ts";

const canceled = new AbortController();
// GitHub sends SIGINT to a canceled job, SIGTERM after 7.5 s, and kills it after 2.5 s more.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => canceled.abort(new Error(`The job was canceled (${signal}).`)));
}

const job = new Job(process.env, (line) => void process.stdout.write(`${line}\n`));
process.exitCode = (await runAction(job, canceled.signal)) ? 0 : 1;
