/** `npm run audit`: fails if a dependency in package-lock.json has a known vulnerability that is high or critical. */
import { spawnSync } from "node:child_process";
import { readAuditReport } from "./lib/audit-report.ts";
import { CommandError, runCommand } from "./lib/command.ts";

await runCommand(async () => {
  const npm = process.env["npm_execpath"];
  if (!npm) throw new CommandError("Run this with npm run audit.", 2);
  const args = [npm, "audit", "--package-lock-only", "--json"];
  const { stdout } = spawnSync(process.execPath, args, { encoding: "utf8" });
  const { fails, message } = readAuditReport(stdout);
  console.log(message);
  return fails ? 1 : 0;
});
