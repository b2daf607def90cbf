/** A process for `npm run test:kill`: runs a Worker, sends its URL, and runs its schedule until it is killed. */
import { setTimeout as sleep } from "node:timers/promises";
import { start } from "./workers.ts";

const SWEEP_EVERY_MS = 2_000;

const [file = "", folder = "", bindings = "{}", port = "0"] = process.argv.slice(2);
const { url, sweep } = await start({ file, compressed: 0 }, JSON.parse(bindings), {
  folder,
  port: Number(port),
});
// Ends with its parent, and so does workerd.
process.on("disconnect", () => process.kill(-process.pid, "SIGKILL"));
process.send?.(url.origin);
for (;;) {
  await sleep(SWEEP_EVERY_MS);
  await sweep().catch(() => undefined);
}
