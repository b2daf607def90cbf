/** The end of `npm run check`: what only the whole can show, when every part is sound. */
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { createApp } from "../src/app.ts";
import { CommandError, runCommand } from "./lib/command.ts";
import { readConfiguration } from "./lib/configuration.ts";
import { LIMITS_FILE, renderLimits } from "./lib/limits-table.ts";
import { SECRET_NAMES } from "./lib/secrets.ts";
import { ROOT, runWrangler } from "./lib/wrangler.ts";

const MAXIMUM_KB = 250;
const REDOCLY = join(ROOT, "node_modules/@redocly/cli/bin/cli.js");

await runCommand(async () => {
  const directory = mkdtempSync(join(tmpdir(), "longshore-"));
  try {
    checkSecrets();
    checkLimits();
    const checks = [checkTypes(), checkBundle(join(directory, "bundle")), checkDocument(directory)];
    for (const result of await Promise.all(checks)) console.log(result);
    return 0;
  } finally {
    rmSync(directory, { recursive: true });
  }
});

function checkSecrets(): void {
  const required = readConfiguration().secrets?.required ?? [];
  if (required.toSorted().join() === SECRET_NAMES.toSorted().join()) return;
  throw new CommandError("wrangler.toml and scripts/lib/secrets.ts name different secrets.");
}

function checkLimits(): void {
  if (readFileSync(LIMITS_FILE, "utf8") === renderLimits()) return;
  throw new CommandError("docs/limits.md is out of date. Run npm run limits.");
}

/** That `Env` is what wrangler.toml binds. */
async function checkTypes(): Promise<string> {
  const options = ["--include-runtime=false", "--strict-vars=false"];
  const args = ["types", "src/env.d.ts", ...options, "--check"];
  const { code, stdout, stderr } = await runWrangler(args);
  if (code !== 0) throw new CommandError(`Run npm run types.\n${stdout}${stderr}`);
  return "Types of the bindings: up to date.";
}

/** Bundles as a deployment would, and weighs what would be sent. */
async function checkBundle(directory: string): Promise<string> {
  const args = ["deploy", "--dry-run", "--outdir", directory];
  const { code, stdout, stderr } = await runWrangler(args);
  if (code !== 0) throw new CommandError(`The Worker does not bundle.\n${stdout}${stderr}`);
  const modules = readdirSync(directory).filter((name) => /\.(js|wasm)$/.test(name));
  const bytes = modules.map((name) => gzipSync(readFileSync(join(directory, name))).length);
  const size = bytes.reduce((sum, each) => sum + each, 0) / 1000;
  const weighed = `Bundle: ${size.toFixed(1)} KB gzip, of ${MAXIMUM_KB} at most.`;
  if (size > MAXIMUM_KB) throw new CommandError(weighed);
  return weighed;
}

/** Writes the OpenAPI document and lints it, so that a client can be generated from it. */
async function checkDocument(directory: string): Promise<string> {
  const file = join(directory, "openapi.json");
  const document = createApp().describe();
  writeFileSync(file, JSON.stringify(document));
  await lint(file);
  return `OpenAPI document: valid, ${Object.keys(document.paths ?? {}).length} paths.`;
}

async function lint(file: string): Promise<void> {
  const env = {
    ...process.env,
    REDOCLY_TELEMETRY: "off",
    REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
  };
  try {
    await promisify(execFile)(process.execPath, [REDOCLY, "lint", file], { env });
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new CommandError(`The OpenAPI document does not pass the linter.\n${stdout}${stderr}`);
  }
}
