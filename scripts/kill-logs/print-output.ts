/**
 * The command of `npm run test:kill-logs`: prints output with secrets in bursts, in writes that split
 * characters and secrets, to the standard output and the standard error in turns.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { makeOutput, SECRETS, SHOWN } from "./output.ts";
import { randomNumbers } from "./random.ts";

const BURST_BYTES = 128 * 1024;
const LONGEST_WRITE = 4_000;
const LONGEST_PAUSE_MS = 700;

const [bytes = "", seed = "", ...stackIds] = process.argv.slice(2);
for (const [name, { value }] of Object.entries({ ...SECRETS, ...SHOWN })) {
  if (process.env[name] !== value) throw new Error(`${name} is not as expected`);
}
const at = stackIds.indexOf(process.env["LONGSHORE_STACK"] ?? "");
const random = randomNumbers(Date.now());
let burst: Buffer[] = [];
let size = 0;
for (const { printed } of makeOutput(Number(bytes), Number(seed) + at)) {
  burst.push(printed);
  size += printed.length;
  if (size >= BURST_BYTES) await printBurst();
}
await printBurst();

async function printBurst(): Promise<void> {
  let rest = Buffer.concat(burst);
  burst = [];
  size = 0;
  while (rest.length > 0) {
    const length = 1 + Math.floor(random() * LONGEST_WRITE);
    await write(rest.subarray(0, length));
    rest = rest.subarray(length);
  }
  await sleep(random() * LONGEST_PAUSE_MS);
}

function write(part: Buffer): Promise<void> {
  const stream = random() < 0.5 ? process.stdout : process.stderr;
  return new Promise((resolve, reject) => {
    stream.write(part, (error) => (error ? reject(error) : resolve()));
  });
}
