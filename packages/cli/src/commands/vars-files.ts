import { spawnSync } from "node:child_process";
import { basename, dirname, resolve } from "node:path";
import type { Command } from "commander";
import { addConsentOption, addExamples } from "../command-options.ts";
import { readText, writeTextFile } from "../config-file.ts";
import { CliError, ExitCode } from "../errors.ts";
import { isInteractive, requireConsent } from "../prompts.ts";
import { readInput } from "../read-input.ts";
import { type CliContext, openSession, type Session } from "../session.ts";
import {
  addMethodOptions,
  DEFAULT_METHOD,
  type MethodOptions,
  readMethod,
} from "../variables/method-options.ts";
import { parseDotenv } from "../variables/parse-dotenv.ts";
import { describeNames, type PushPlan, planPush, renderPlan } from "../variables/push-plan.ts";
import { renderDotenv } from "../variables/render-dotenv.ts";
import {
  addScopeOptions,
  listVariables,
  requireScope,
  requireVariableNames,
  revealVariables,
  type ScopeOptions,
  type Variable,
  type VariableScope,
  writeVariables,
} from "../variables/scope.ts";

interface Options extends ScopeOptions, MethodOptions {
  exitCode?: boolean;
  force?: boolean;
  json?: boolean;
  replace?: boolean;
  yes?: boolean;
  profile?: string;
}

const FILE_MODE = 0o600;

const FILE_FORMAT = `
The file is read as the package dotenv reads it. A name that occurs twice, and a line that is not
understood, are errors. Values are read to compare them, which the audit log records.`;

/** `vars diff`, `push` and `pull`, for `.env` files. */
export function addVariableFileCommands(group: Command, context: CliContext): void {
  addExamples(
    addScopeOptions(group.command("diff"))
      .description("what push would do: + creates, ~ replaces, and - deletes with --replace")
      .argument("[file]", "- for stdin", ".env")
      .option("--exit-code", "exit with 1 if there are differences")
      .option("--json", "print JSON, for programs")
      .addHelpText("after", FILE_FORMAT),
    "vars diff",
    "vars diff .env.production -e production --exit-code",
  ).action((file: string, _, self: Command) => diff(context, file, self.optsWithGlobals()));
  addPush(group, context);
  addExamples(
    addScopeOptions(group.command("pull"))
      .description("write the variables to a .env file that only you can read")
      .argument("[file]", "- for stdout", ".env")
      .option("--force", "replace a file that differs, without asking"),
    "vars pull",
    "vars pull .env.production -e production --force",
  ).action((file: string, _, self: Command) => pull(context, file, self.optsWithGlobals()));
}

function addPush(group: Command, context: CliContext): void {
  const command = addConsentOption(addScopeOptions(group.command("push")))
    .description("write the variables of a .env file, all or none; asks before")
    .argument("[file]", "- for stdin", ".env")
    .option("--replace", "also delete the variables that the file lacks")
    .addHelpText("after", FILE_FORMAT);
  addExamples(
    addMethodOptions(command, "new variables"),
    "vars push",
    "vars push .env.production -e production --replace --yes",
  ).action((file: string, _, self: Command) => push(context, file, self.optsWithGlobals()));
}

async function diff(context: CliContext, file: string, options: Options): Promise<void> {
  const { plan, scope } = await preparePush(context, file, options);
  const text = renderPlan(plan);
  if (options.json) context.output.json(describeNames(plan));
  else if (text) context.output.print(text);
  else context.output.note(`${file} and ${scope.title} do not differ.`);
  if (options.exitCode && text) context.exitCode = ExitCode.error;
}

async function push(context: CliContext, file: string, options: Options): Promise<void> {
  const { output } = context;
  const { plan, scope, session, versions } = await preparePush(context, file, options);
  const removed = options.replace ? plan.missing : [];
  const written = [...plan.added, ...plan.changed];
  if (plan.missing.length > removed.length) {
    output.note(`Not in ${file}, and kept without --replace: ${plan.missing.join(", ")}`);
  }
  if (written.length + removed.length === 0) {
    output.note(`There is nothing to change in ${scope.title}.`);
    return;
  }
  output.note(renderPlan({ ...plan, missing: removed }));
  if (file === "-" && !options.yes) throw new CliError("Add --yes: stdin has the variables.");
  await requireConsent(context, `Change the variables of ${scope.title}?`, options);
  await requireUnchanged(session, scope, versions);
  if (removed.length === 0) await writeVariables(context, session, scope, "merge", written);
  else await writeVariables(context, session, scope, "replace", [...written, ...plan.unchanged]);
  output.note(`Wrote ${written.length} and deleted ${removed.length} variables of ${scope.title}.`);
}

interface PreparedPush {
  plan: PushPlan;
  session: Session;
  scope: VariableScope;
  /** The IDs and versions of the variables that the plan is for. */
  versions: string;
}

async function preparePush(
  context: CliContext,
  file: string,
  options: Options,
): Promise<PreparedPush> {
  const values = parseDotenv(await readInput(context, file), file);
  requireVariableNames(values.keys(), file);
  const session = await openSession(context, options);
  const scope = await requireScope(context, session, options);
  const existing = await revealVariables(session, scope);
  const plan = planPush(values, existing, readMethod(options) ?? DEFAULT_METHOD);
  return { plan, session, scope, versions: versionsOf(existing) };
}

/** Someone may have changed the variables while the question was open. */
async function requireUnchanged(
  session: Session,
  scope: VariableScope,
  versions: string,
): Promise<void> {
  if (versionsOf(await listVariables(session, scope)) === versions) return;
  throw new CliError(
    `The variables of ${scope.title} have changed in the meantime. Nothing was changed: run the command again.`,
  );
}

function versionsOf(variables: readonly Variable[]): string {
  return JSON.stringify(variables.map(({ id, version }) => [id, version]));
}

async function pull(context: CliContext, file: string, options: Options): Promise<void> {
  const { output } = context;
  const session = await openSession(context, options);
  const scope = await requireScope(context, session, options);
  const text = renderDotenv(await revealVariables(session, scope));
  if (file === "-") {
    output.printExactly(text);
    return;
  }
  const path = resolve(context.folder, file);
  const present = await readText(path);
  if (present !== undefined && present !== text) await requireOverwrite(context, file, options);
  await writeTextFile(path, text, FILE_MODE);
  output.note(`Wrote the variables of ${scope.title} to ${file}, which only you can read.`);
  if (wouldGitTrack(context, path)) {
    output.note(`Warning: git would track ${file}. Add it to .gitignore: it has secrets.`);
  }
}

async function requireOverwrite(
  context: CliContext,
  file: string,
  { force }: Options,
): Promise<void> {
  if (!force && !isInteractive(context)) {
    throw new CliError(`${file} differs. Nothing was changed: add --force to replace it.`);
  }
  const question = `${file} differs: replace it?`;
  await requireConsent(context, question, { yes: force ?? false });
}

/** False outside of a repository, and without git. */
function wouldGitTrack({ environment }: CliContext, path: string): boolean {
  const env = environment as NodeJS.ProcessEnv;
  const args = ["check-ignore", "--quiet", "--", basename(path)];
  return spawnSync("git", args, { cwd: dirname(path), env, stdio: "ignore" }).status === 1;
}
