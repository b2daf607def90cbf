import type { Command } from "commander";
import { diffDocuments } from "../../../../src/lib/json-diff.ts";
import { isObject } from "../../../../src/lib/json-value.ts";
import type { Schemas } from "../../../client/src/index.ts";
import { addConsentOption, addExamples } from "../command-options.ts";
import { printPatch } from "../deployments/print-details.ts";
import { CliError, ExitCode, isOutdated } from "../errors.ts";
import { requireConsent } from "../prompts.ts";
import { readJsonInput } from "../read-input.ts";
import { type CliContext, openSession, type Session } from "../session.ts";
import { addEnvironmentOption, type EnvironmentOptions, requireEnvironment } from "../target.ts";

type Environment = Schemas["Environment"];
type Operation = Schemas["PatchOperation"];

interface Options extends EnvironmentOptions {
  ifMatch?: string;
  with?: string;
  exitCode?: boolean;
  json?: boolean;
  yes?: boolean;
  profile?: string;
}

const ENVIRONMENT = "/v1/environments/{environment_id}";
/** Beyond it, a difference has no old values. */
const DIFF_BYTES = 256 * 1_024;

const SET_HELP = `
Prints the difference and asks; without a terminal, it needs --yes. It writes only what it has compared: a change that
somebody makes meanwhile is a conflict. With --if-match, so is one since get has printed that version.`;

/** `longshore configuration`: the JSON document of an environment. */
export function addConfigurationCommands(program: Command, context: CliContext): void {
  const group = program.command("configuration").description("the configuration of an environment");
  addExamples(
    addEnvironmentOption(group.command("get")).description(
      "print the configuration as JSON, and its version on stderr",
    ),
    "configuration get > staging.json",
  ).action((_, self: Command) => get(context, self.optsWithGlobals()));
  const set = addConsentOption(addEnvironmentOption(group.command("set")))
    .description("replace the configuration; the next deployment uses it")
    .argument("<file>", "a JSON object; - is stdin")
    .option("--if-match <version>", "only if it still has this version")
    .addHelpText("after", SET_HELP);
  addExamples(
    set,
    "configuration set staging.json",
    "configuration get | jq '.replicas = 3' | longshore configuration set - --yes",
  ).action((file: string, _, self: Command) => write(context, file, self.optsWithGlobals()));
  addExamples(
    addEnvironmentOption(group.command("diff"))
      .description("print what a file, or another environment of the project, would change")
      .argument("[file]", "a JSON object; - is stdin")
      .option("--with <environment>", "compare with this environment, by name or ID")
      .option("--exit-code", "exit with 1 if there are differences")
      .option("--json", "print a JSON Patch, for programs"),
    "configuration diff staging.json",
    "configuration diff -e production --with staging",
  ).action((file: string | undefined, _, self: Command) =>
    diff(context, file, self.optsWithGlobals()),
  );
}

async function get(context: CliContext, options: Options): Promise<void> {
  const session = await openSession(context, options);
  const { environment, version } = await readVersion(context, session, options);
  context.output.json(environment.configuration);
  // A shell would take quotes away from what is pasted.
  context.output.note(`Version: ${version.replaceAll('"', "")}`);
}

async function write(context: CliContext, file: string, options: Options): Promise<void> {
  const { output } = context;
  const configuration = await readConfiguration(context, file);
  const session = await openSession(context, options);
  const { environment, version } = await readVersion(context, session, options);
  const { id, name } = environment;
  const patch = differenceOf(environment.configuration, configuration);
  if (patch.length === 0) return output.note(`There is nothing to change in ${name}.`);
  printPatch(output, patch);
  await requireConsent(context, `Replace the configuration of ${name}?`, options);
  try {
    await session.client.put(ENVIRONMENT, {
      path: { environment_id: id },
      body: { name, configuration: configuration as Environment["configuration"] },
      ifMatch: options.ifMatch === undefined ? version : toEtag(options.ifMatch),
    });
  } catch (error) {
    if (!isOutdated(error)) throw error;
    throw new CliError(
      `Somebody has changed the configuration of ${name} since. Nothing was written. Run: longshore configuration diff ${file}`,
    );
  }
  output.note(`The configuration of ${name} is replaced.`);
}

async function diff(
  context: CliContext,
  file: string | undefined,
  options: Options,
): Promise<void> {
  const { output } = context;
  if ((file === undefined) === (options.with === undefined)) {
    throw new CliError("Name either a file, or another environment: --with.");
  }
  const given = file === undefined ? undefined : await readConfiguration(context, file);
  const session = await openSession(context, options);
  const environment = await requireEnvironment(context, session, options);
  const patch = given
    ? differenceOf(environment.configuration, given)
    : await compare(context, session, environment, String(options.with));
  if (options.json) output.json(patch);
  else if (patch.length === 0) output.note("The configurations do not differ.");
  else printPatch(output, patch);
  if (options.exitCode && patch.length > 0) context.exitCode = ExitCode.error;
}

/** What makes the configuration of an environment that of the other one. */
async function compare(
  context: CliContext,
  session: Session,
  { configuration, project_id: project }: Environment,
  name: string,
): Promise<Operation[]> {
  const other = await requireEnvironment(context, session, { project, environment: name });
  return differenceOf(configuration, other.configuration);
}

async function readVersion(context: CliContext, session: Session, options: EnvironmentOptions) {
  const { id } = await requireEnvironment(context, session, options);
  const response = await session.client.request("GET", ENVIRONMENT, {
    path: { environment_id: id },
  });
  const environment = (await response.json()) as Environment;
  return { environment, version: response.headers.get("etag") ?? "*" };
}

async function readConfiguration(context: CliContext, file: string): Promise<object> {
  const value = await readJsonInput(context, file);
  if (isObject(value)) return value;
  throw new CliError("A configuration is a JSON object.");
}

function differenceOf(from: unknown, to: unknown): Operation[] {
  return diffDocuments(from, to, DIFF_BYTES) as Operation[];
}

function toEtag(version: string): string {
  return version === "*" || version.startsWith('"') ? version : `"${version}"`;
}
