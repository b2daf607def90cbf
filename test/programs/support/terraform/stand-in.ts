/**
 * Stands in for Terraform: replays the recorded calls of the real program in their order, and fails if a call has other
 * arguments or files: `stand-in.ts RECORDING FOLDER ARGUMENT…`. The folder has the file `calls` with a line for each
 * call. If it has the file `hold`, an apply waits before what it prints at the end of the first resource until the file
 * is gone.
 */
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import {
  hashModule,
  ROOT_NAME,
  readFilesOf,
  type TerraformCall,
  withoutFolders,
} from "./recording.ts";

const READ_BY_OTHERS = 0o077;
const POLL_EVERY_MS = 20;

const [recording = "", folder = "", ...args] = process.argv.slice(2);
const log = join(folder, "calls");
const number = existsSync(log) ? readFileSync(log, "utf8").split("\n").length - 1 : 0;
appendFileSync(log, `${args.join(" ")}\n`);
const { calls } = JSON.parse(readFileSync(recording, "utf8").replaceAll(ROOT_NAME, folder));
await replay(calls[number]);

async function replay(call: TerraformCall | undefined): Promise<void> {
  check(call);
  if (!call) return;
  // The real program uses this workspace instead of the selected one.
  if (args[0] === "workspace" && process.env["TF_WORKSPACE"] !== undefined) {
    process.stderr.write("Error: TF_WORKSPACE overrides the selected workspace.\n");
    process.exitCode = 1;
    return;
  }
  // Before the first output, because the signal may follow at once.
  const interrupted = once(process, "SIGINT");
  const alive = setInterval(() => undefined, 1_000);
  for (const event of call.events) {
    if ("signal" in event) await interrupted;
    else if ("err" in event) process.stderr.write(event.err);
    else await print(event.out);
  }
  if (call.backend !== undefined) {
    const data = process.env["TF_DATA_DIR"] ?? "";
    mkdirSync(data, { recursive: true });
    writeFileSync(join(data, "terraform.tfstate"), call.backend);
  }
  // A call that was killed waits for the same.
  if (call.code === undefined) return;
  clearInterval(alive);
  process.exitCode = call.code;
}

async function print(text: string): Promise<void> {
  const at = args[0] === "apply" ? text.search(/^.*"type":"apply_complete"/m) : -1;
  if (at === -1) {
    process.stdout.write(text);
    return;
  }
  process.stdout.write(text.slice(0, at));
  while (existsSync(join(folder, "hold"))) await sleep(POLL_EVERY_MS);
  process.stdout.write(text.slice(at));
}

/** Throws if the executor does not call the program as it did when the recording was made. */
function check(call: TerraformCall | undefined): void {
  const { TF_IN_AUTOMATION, TF_INPUT, CHECKPOINT_DISABLE } = process.env;
  const actual = {
    args: withoutFolders(args),
    module: hashModule(process.cwd()),
    files: withoutFolders(readFilesOf(args)),
    environment: [TF_IN_AUTOMATION, TF_INPUT, CHECKPOINT_DISABLE],
  };
  const expected = {
    args: withoutFolders(call?.args ?? []),
    module: call?.module,
    files: withoutFolders(call?.files ?? {}),
    environment: ["1", "0", "1"],
  };
  const difference = JSON.stringify({ number, actual, expected }, null, 2);
  if (!isDeepStrictEqual(actual, expected)) throw new Error(`Not the recorded call: ${difference}`);
  for (const arg of args) {
    const [, path] = /^-(?:var-file|backend-config)=(.*)$/.exec(arg) ?? [];
    if (path && (statSync(path).mode & READ_BY_OTHERS) !== 0) {
      throw new Error(`Others can read ${path}.`);
    }
  }
}
