import { writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { SettingValues } from "../../../runner/src/executors/setting.ts";
import { type ProgramContext, ProgramError } from "../../program/src/index.ts";
import { findConfiguration } from "./configuration.ts";
import { type DeployedWorker, WorkerResources } from "./resources.ts";
import type { SETTINGS } from "./settings.ts";
import { findVersion, toVersionTag } from "./version-tag.ts";
import { type CommandOutput, Wrangler } from "./wrangler.ts";

type Context = ProgramContext<SettingValues<typeof SETTINGS>>;

const ONLY_USER = 0o600;
const STOPPED = "The runner was asked to stop before wrangler had finished.";
/** What `wrangler deploy --var` and a secret may be called; a `:` would end the name. */
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Deploys the Worker of the folder, or the version of an earlier deployment of the same. */
export async function deployWorker(context: Context): Promise<void> {
  const { input, settings, report } = context;
  const bindings = toBindingOptions(context);
  const wrangler = createWrangler(context);
  const { id: stackId, outputs } = input.stack;
  const { folder = process.cwd(), ...rest } = settings;
  const tag = toVersionTag({
    stackId,
    commit: input.deployment.source?.git?.commit?.sha,
    settings: { ...rest, folder: relative(process.cwd(), folder) },
  });
  const resources = new WorkerResources(report, outputs);
  try {
    resources.running("wrangler deploys the Worker.");
    const found = input.deployment.trigger === "redeployment" && (await findTag(wrangler, tag));
    const again = found ? await deployVersion(wrangler, found, context) : undefined;
    resources.deployed(again ?? (await build(wrangler, tag, bindings)));
  } catch (error) {
    const failure = context.stop.aborted ? new ProgramError(STOPPED) : error;
    const reason = failure instanceof ProgramError ? failure.message : "The program has failed.";
    resources.failed(reason, await readDeployedVersion(wrangler));
    throw failure;
  }
}

function createWrangler({ settings, folder: files }: Context): Wrangler {
  const { folder = process.cwd(), environment, name } = settings;
  const options = [
    `--config=${findConfiguration(folder, process.cwd())}`,
    ...(environment === undefined ? [] : [`--env=${environment}`]),
    ...(name === undefined ? [] : [`--name=${name}`]),
  ];
  return new Wrangler(options, { folder, files });
}

/** Secrets are in a file, because other users of the machine can read arguments. */
function toBindingOptions({ settings, folder }: Context): string[] {
  const { variables = {}, secrets = {} } = settings;
  requireNames("variables", variables);
  requireNames("secrets", secrets);
  const options = Object.entries(variables).map(([name, value]) => `--var=${name}:${value}`);
  if (Object.keys(secrets).length === 0) return options;
  const file = join(folder, "secrets.json");
  writeFileSync(file, JSON.stringify(secrets), { mode: ONLY_USER });
  return [...options, `--secrets-file=${file}`];
}

function requireNames(setting: string, values: Readonly<Record<string, string>>): void {
  const wrong = Object.keys(values).find((name) => !VARIABLE.test(name));
  if (wrong === undefined) return;
  throw new ProgramError(
    `The setting ${setting} has the name ${JSON.stringify(wrong)}. Use letters, digits and _, with no digit first.`,
  );
}

async function build(
  wrangler: Wrangler,
  tag: string,
  bindings: readonly string[],
): Promise<DeployedWorker> {
  const { entries } = await wrangler.run(["deploy"], [`--tag=${tag}`, ...bindings]);
  const entry = entries.findLast(({ type }) => type === "deploy");
  if (typeof entry?.worker_name !== "string") {
    throw new ProgramError("wrangler deploy did not say which Worker it has deployed.");
  }
  return {
    name: entry.worker_name,
    versionId: entry.version_id ?? undefined,
    targets: entry.targets ?? [],
  };
}

async function findTag(wrangler: Wrangler, tag: string): Promise<string | undefined> {
  return findVersion(await wrangler.read(["versions", "list"]), tag);
}

/** Undefined: Cloudflare does not deploy this version again, so it is built. */
async function deployVersion(
  wrangler: Wrangler,
  versionId: string,
  { stop }: Context,
): Promise<DeployedWorker | undefined> {
  try {
    const command = ["versions", "deploy", `${versionId}@100%`];
    const { entries } = await wrangler.run(command, ["--yes"]);
    const name = entries.findLast(({ type }) => type === "version-deploy")?.worker_name;
    if (typeof name !== "string") return undefined;
    // A version has no routes: those of the commit are applied as wrangler deploy does.
    const targets = readTargets(await wrangler.run(["triggers", "deploy"]));
    return { name, versionId, targets };
  } catch (error) {
    if (stop.aborted || !(error instanceof ProgramError)) throw error;
    console.log(`${error.message}\nThe version ${versionId} is built again from its commit.`);
    return undefined;
  }
}

/** wrangler prints each in a line of its own after the one that begins with `Deployed`. */
function readTargets({ lines }: CommandOutput): string[] {
  const first = lines.findIndex((line) => /^Deployed .* triggers\b/.test(line)) + 1;
  if (first === 0) return [];
  const rest = lines.slice(first);
  const end = rest.findIndex((line) => !line.startsWith("  "));
  return rest.slice(0, end === -1 ? rest.length : end).map((line) => line.trim());
}

async function readDeployedVersion(wrangler: Wrangler): Promise<string | undefined> {
  const status = (await wrangler.read(["deployments", "status"])) as
    | { versions?: { version_id?: unknown }[] }
    | undefined;
  const id = status?.versions?.[0]?.version_id;
  return typeof id === "string" ? id : undefined;
}
