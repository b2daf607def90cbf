import { type Command, Option } from "commander";
import { applyPatch, type Operation, PatchError } from "../../../../src/lib/json-patch.ts";
import { isObject } from "../../../../src/lib/json-value.ts";
import { LIMITS } from "../../../../src/lib/limits.ts";
import type { Schemas } from "../../../client/src/index.ts";
import { namesWithExecutor } from "../../../runner/src/executors/settings-list.ts";
import { addExamples, addRecordOptions, collect } from "../command-options.ts";
import { cleanSource } from "../deployments/commit-text.ts";
import { findStacks, readReason } from "../deployments/creation-options.ts";
import { addDryRunOption, printPreview } from "../deployments/preview.ts";
import { type Assignment, buildPatch, parseAssignment } from "../deployments/set-patch.ts";
import {
  addWaitOptions,
  checkWaitOptions,
  finishWith,
  WAIT_HELP,
  type WaitOptions,
} from "../deployments/watch.ts";
import { CliError } from "../errors.ts";
import { type CommitOptions, findGit, readCommitSource } from "../git/commit.ts";
import { KINDS } from "../named-kinds.ts";
import { readJsonInput } from "../read-input.ts";
import { type CliContext, openSession, type Session } from "../session.ts";
import { addEnvironmentOption, type EnvironmentOptions, requireEnvironment } from "../target.ts";

type CreateDeployment = Schemas["CreateDeployment"];
type PatchInput = NonNullable<CreateDeployment["patch"]>;
type Source = Schemas["DeploymentSourceInput"];
type Environment = Schemas["Environment"];

interface Options extends CommitOptions, EnvironmentOptions, WaitOptions {
  image?: string;
  source?: string;
  patch?: string;
  stack?: string[];
  queue?: Schemas["DeploymentQueue"];
  reason?: string;
  continueOnFailure?: boolean;
  profile?: string;
}

const HELP = `
In a git repository, deploys the commit that you have checked out, if a stack needs one. Push it first. Otherwise, the
environment keeps the commit that it runs.

--set changes the configuration of the environment. A key that has a dot is written as a\\.b, an element of a
list by its index, and a new one as -. Missing parents are created: a list before -. The value is JSON, or else text, and so is a
number in another form than JSON writes it: --set tag=1.10 is the text 1.10. --set-string takes every value as text,
--set-json as JSON. They apply in their order, after the operations of --patch.
${WAIT_HELP}
With --dry-run, it is 0, or 1 if the service would refuse the deployment, as without it.
Ctrl-C asks whether to cancel the deployment; without a terminal, it leaves, and the deployment continues.`;

/** `longshore deploy`. */
export function addDeployCommand(program: Command, context: CliContext): void {
  const assignments: Assignment[] = [];
  const assign = (option: Assignment["option"]) => (text: string) =>
    void assignments.push(parseAssignment(text, option));
  const command = program
    .command("deploy")
    .description("deploy an environment")
    .option("--commit <rev>", "the commit to deploy, as git names it")
    .option("--ref <name>", "the branch or tag that has the commit")
    .option("--image <ref>", "the container image to deploy")
    .option("--source <file>", "what to deploy, as JSON; - reads stdin")
    .option("--patch <file>", "a JSON Patch of the configuration; - reads stdin")
    .option("--set <path=value>", "change the configuration; may be repeated", assign("--set"))
    .option("--set-string <path=value>", "the same, with a text", assign("--set-string"))
    .option("--set-json <path=value>", "the same, with JSON", assign("--set-json"))
    .option("--stack <name>", "only this stack, by name or ID; may be repeated", collect)
    .addOption(
      new Option("--queue <order>", "what happens to deployments that wait").choices([
        "supersede",
        "fifo",
      ]),
    )
    .option("--continue-on-failure", "deploy the stacks that do not need a failed one")
    .option("--reason <text>", "why the deployment is made");
  addRecordOptions(addDryRunOption(addWaitOptions(addEnvironmentOption(command))));
  command.addHelpText("after", HELP);
  addExamples(
    command,
    "deploy --wait",
    "deploy --commit v1.4.2 --ref v1.4.2",
    "deploy --image ghcr.io/acme/shop:1.4.2 --wait --timeout 20m",
    "deploy --set replicas=3 --set features.search=true --reason 'More traffic'",
    "deploy -p storefront -e staging --stack web --stack worker",
    "deploy --set replicas=3 --dry-run",
    "deploy --set-string build=20261128 --set-json 'hosts=[\"a.example.com\"]'",
    'echo \'[{"op":"remove","path":"/beta"}]\' | longshore deploy --patch -',
  );
  command.action((_, self: Command) => deploy(context, self.optsWithGlobals(), assignments));
}

async function deploy(
  context: CliContext,
  options: Options,
  assignments: readonly Assignment[],
): Promise<void> {
  checkWaitOptions(options);
  if (options.source === "-" && options.patch === "-") {
    throw new CliError("Only one of --source and --patch can read stdin.");
  }
  if (options.source !== undefined && namesCommit(options)) {
    throw new CliError("--source says what to deploy: omit --commit and --ref.");
  }
  const given = await readSource(context, options);
  const reason = readReason(context, options);
  const patch = await readPatch(context, options.patch);
  const session = await openSession(context, options);
  const environment = await requireEnvironment(context, session, options);
  const path = { environment_id: environment.id };
  const stackIds = await findStacks(session, path, options.stack);
  // The service refuses operations that are none.
  const operations = buildPatch(environment.configuration, patch, assignments) as PatchInput;
  const source = await addCommit(context, session, environment, {
    ...{ options, stackIds, source: given },
    configuration: patched(environment.configuration, operations),
  });
  const body: CreateDeployment = {
    patch: operations,
    ...(source && { source }),
    ...(stackIds && { stack_ids: stackIds }),
    ...(options.queue && { queue: options.queue }),
    ...(reason !== undefined && { reason }),
    ...(options.continueOnFailure && { continue_on_failure: true }),
  };
  if (options.dryRun) {
    const preview = await session.client.post(
      "/v1/environments/{environment_id}/deployment-preview",
      { path, body },
    );
    return printPreview(context, session, preview, options);
  }
  const created = await session.client.post("/v1/environments/{environment_id}/deployments", {
    path,
    body,
  });
  await finishWith(context, session, created, options);
}

function namesCommit({ commit, ref }: Options): boolean {
  return commit !== undefined || ref !== undefined;
}

interface Given {
  options: Options;
  stackIds: readonly string[] | undefined;
  source: Source | undefined;
  /** The configuration that the deployment makes. */
  configuration: unknown;
}

/** The configuration with the patch. A patch that does not apply is left to the service, which says why. */
function patched(configuration: unknown, patch: PatchInput): unknown {
  const bytes = LIMITS.configurationBytes.value;
  try {
    return applyPatch(configuration, patch as Operation[], { copiedBytes: bytes, oldValueBytes: 0 })
      .document;
  } catch (error) {
    if (error instanceof PatchError) return configuration;
    throw error;
  }
}

/** Adds the repository's commit to the source if an option asks for one or a stack needs one. */
async function addCommit(
  context: CliContext,
  session: Session,
  environment: Environment,
  { options, stackIds, source, configuration }: Given,
): Promise<Source | undefined> {
  if (options.source !== undefined) return source;
  const isAsked = namesCommit(options);
  const git = findGit(context);
  if (!git && isAsked) throw new CliError("This folder is not in a git repository.");
  if (!git || (!isAsked && !(await needsCommit(session, environment, configuration, stackIds))))
    return source;
  const { value, remarks } = cleanSource({ git: readCommitSource(git, context, options) });
  for (const remark of remarks) context.output.note(remark);
  return { ...source, ...value };
}

async function needsCommit(
  session: Session,
  { id }: Environment,
  configuration: unknown,
  stackIds: readonly string[] | undefined,
): Promise<boolean> {
  const names = namesWithExecutor(configuration);
  if (names.size === 0) return false;
  const path = { environment_id: id };
  for await (const stack of session.client.list(KINDS.stack.listPath, { path })) {
    if (names.has(stack.name) && (!stackIds || stackIds.includes(stack.id))) return true;
  }
  return false;
}

async function readSource(
  context: CliContext,
  { source: file, image }: Options,
): Promise<Source | undefined> {
  if (file === undefined) return image === undefined ? undefined : { registry: { image } };
  const json = await readJsonInput(context, file);
  if (!isObject(json)) throw new CliError("--source needs a JSON object with git or registry.");
  const { value: source, remarks } = cleanSource(json);
  for (const remark of remarks) context.output.note(remark);
  if (image === undefined) return source as Source;
  if ("registry" in source) throw new CliError("--source has an image: omit --image.");
  return { ...source, registry: { image } };
}

async function readPatch(context: CliContext, file: string | undefined): Promise<Operation[]> {
  const patch = file === undefined ? [] : await readJsonInput(context, file);
  const isPatch = Array.isArray(patch) && patch.every(isOperation);
  if (isPatch) return patch;
  throw new CliError(
    '--patch needs a JSON Patch, such as [{"op":"replace","path":"/replicas","value":3}].',
  );
}

function isOperation(value: unknown): value is Operation {
  return isObject(value) && typeof value["op"] === "string" && typeof value["path"] === "string";
}
