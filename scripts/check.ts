/** The last step of `npm run check`: configuration, licenses, console, bundle, start-up and OpenAPI document. */
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { REQUIRED_SECRETS } from "../src/lib/settings.ts";
import { ASSETS_FOLDER, buildAssets } from "./lib/assets.ts";
import { MAXIMUM_BUNDLE_KB } from "./lib/bundle-gate.ts";
import { CommandError, runCommand } from "./lib/command.ts";
import { readConfiguration } from "./lib/configuration.ts";
import { activeMs } from "./lib/cpu-profile.ts";
import { readDocument } from "./lib/document.ts";
import { findRefusedLicenses } from "./lib/licenses.ts";
import { LIMITS_FILE, renderLimits } from "./lib/limits-table.ts";
import { ROOT, runWrangler } from "./lib/wrangler.ts";

/** Of the console, by the ends of the names of its files. */
const MAXIMUM_CONSOLE_KB = { ".js": 95, ".css": 17 };
const MAXIMUM_STARTUP_MS = 62;
const MAXIMUM_STARTUP_RUNS = 12;
const LINES_FOR_REVIEW = 250;
const REDOCLY = join(ROOT, "node_modules/@redocly/cli/bin/cli.js");

await runCommand(async () => {
  const directory = mkdtempSync(join(tmpdir(), "longshore-"));
  try {
    await checkSecrets();
    checkLimits();
    checkLicenses();
    console.log(await checkConsole());
    const checks = [checkTypes(), checkDocument(directory), checkBundle(join(directory, "bundle"))];
    for (const result of await Promise.all(checks)) console.log(result);
    console.log(await checkStartup(join(directory, "startup.cpuprofile")));
    console.log(adviseOnSize());
    return 0;
  } finally {
    rmSync(directory, { recursive: true });
  }
});

async function checkSecrets(): Promise<void> {
  const required = (await readConfiguration()).secrets?.required ?? [];
  if (required.toSorted().join() === REQUIRED_SECRETS.toSorted().join()) return;
  throw new CommandError("wrangler.toml and src/lib/settings.ts name different secrets.");
}

function checkLimits(): void {
  if (readFileSync(LIMITS_FILE, "utf8") === renderLimits()) return;
  throw new CommandError("docs/limits.md is out of date. Run npm run limits.");
}

function checkLicenses(): void {
  const refused = findRefusedLicenses(
    JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")),
  );
  if (refused.length === 0) return;
  const advice = "Use another package, or allow the license in scripts/lib/licenses.ts:";
  throw new CommandError([`Licenses that are not allowed. ${advice}`, ...refused].join("\n  "));
}

/** A file that is longer may hold more than one idea. */
function adviseOnSize(): string {
  const source = join(ROOT, "src");
  const long = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => ({ file, lines: readFileSync(join(source, file), "utf8").split("\n").length }))
    .filter(({ lines }) => lines > LINES_FOR_REVIEW)
    .map(({ file, lines }) => `${file} (${lines})`);
  return `Files of more than ${LINES_FOR_REVIEW} lines, for review: ${long.join(", ") || "none"}.`;
}

/** `Env` must match the bindings of wrangler.toml. */
async function checkTypes(): Promise<string> {
  const options = ["--include-runtime=false", "--strict-vars=false"];
  const args = ["types", "src/env.d.ts", ...options, "--check"];
  const { code, stdout, stderr } = await runWrangler(args);
  if (code !== 0) throw new CommandError(`Run npm run types.\n${stdout}${stderr}`);
  return "Types of the bindings: up to date.";
}

/** The first visit of a person stays fast. */
async function checkConsole(): Promise<string> {
  await buildAssets();
  const folder = join(ASSETS_FOLDER, "console/assets");
  const results = Object.entries(MAXIMUM_CONSOLE_KB).map(([end, maximum]) => {
    const files = readdirSync(folder).filter((name) => name.endsWith(end));
    const bytes = files.map((name) => gzipSync(readFileSync(join(folder, name))).length);
    const size = bytes.reduce((sum, each) => sum + each, 0) / 1000;
    const result = `${size.toFixed(1)} KB gzip of ${end}, at most ${maximum}`;
    if (size > maximum) throw new CommandError(`Console: ${result}.`);
    return result;
  });
  return `Console: ${results.join("; ")}.`;
}

async function checkBundle(directory: string): Promise<string> {
  const args = ["deploy", "--dry-run", "--outdir", directory];
  const { code, stdout, stderr } = await runWrangler(args);
  if (code !== 0) throw new CommandError(`The Worker does not bundle.\n${stdout}${stderr}`);
  const modules = readdirSync(directory).filter((name) => /\.(js|wasm)$/.test(name));
  const bytes = modules.map((name) => gzipSync(readFileSync(join(directory, name))).length);
  const size = bytes.reduce((sum, each) => sum + each, 0) / 1000;
  const result = `Bundle: ${size.toFixed(1)} KB gzip, at most ${MAXIMUM_BUNDLE_KB}.`;
  if (size > MAXIMUM_BUNDLE_KB) throw new CommandError(result);
  return result;
}

/**
 * Holds the CPU time of loading the Worker: routes and schemas are loaded at their first request.
 * Other work on the machine only prolongs a run, so one that is short enough decides.
 */
async function checkStartup(profile: string): Promise<string> {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < MAXIMUM_STARTUP_RUNS && least > MAXIMUM_STARTUP_MS; run += 1) {
    const { code, stdout, stderr } = await runWrangler(["check", "startup", "--outfile", profile]);
    if (code !== 0) throw new CommandError(`The Worker does not start.\n${stdout}${stderr}`);
    least = Math.min(least, activeMs(readFileSync(profile, "utf8")));
  }
  const result = `Start-up: ${least.toFixed(0)} ms of CPU time, at most ${MAXIMUM_STARTUP_MS}.`;
  if (least > MAXIMUM_STARTUP_MS) throw new CommandError(result);
  return result;
}

/** A client generator must accept the document, so it must pass the linter. */
async function checkDocument(directory: string): Promise<string> {
  const file = join(directory, "openapi.json");
  const document = await readDocument();
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
