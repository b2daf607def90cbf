/** node report.mjs WORKER: reports the version and the URL of the Worker, as wrangler has named them. */
import { appendFileSync, readFileSync } from "node:fs";

const [worker] = process.argv.slice(2);
const lines = readFileSync(process.env.WRANGLER_OUTPUT_FILE_PATH, "utf8").trim().split("\n");
const { version_id, targets } = lines
  .map((line) => JSON.parse(line))
  .findLast(({ type }) => type === "deploy");

report({
  resource: { template_id: worker, physical_id: version_id ?? worker, status: "UPDATE_COMPLETE" },
});
const url = targets?.find((target) => target.startsWith("https://"));
if (url) report({ output: { name: "url", value: url } });

function report(line) {
  appendFileSync(process.env.LONGSHORE_REPORT_FILE, `${JSON.stringify(line)}\n`);
}
