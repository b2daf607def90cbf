import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import type { Command } from "commander";
import { ApiError } from "../../../client/src/index.ts";
import { CommandEnvironment, type Variable } from "../../../runner/src/environment.ts";
import { explainStartError, type StartedProgram } from "../../../runner/src/start-error.ts";
import { addExamples, collect } from "../command-options.ts";
import { CliError } from "../errors.ts";
import { type CliContext, openSession, type Session } from "../session.ts";
import {
  addScopeOptions,
  environmentScope,
  requireScope,
  revealVariables,
  type ScopeOptions,
  type VariableScope,
} from "../variables/scope.ts";

interface Options extends ScopeOptions {
  allowVariable?: string[];
  profile?: string;
}

const MISSING_COMMAND =
  "Write the command after --, such as: longshore run -e production -- npm start";
/** What shells exit with. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;
const SIGNAL_BASE = 128;
const FORWARDED = ["SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP", "SIGUSR2"] as const;
/** A terminal sends these to the command too. */
const SENT_BY_TERMINAL: readonly NodeJS.Signals[] = ["SIGINT", "SIGQUIT"];

const DETAILS = `
The command has the environment variables of this shell, and over them those of the environment, and over
them those of the component. Nothing is written to disk; the audit log records that the values were read.
LONGSHORE_API_KEY is not passed on. Variables with names that change how programs load, such as
NODE_OPTIONS and PATH, are refused as the runner does, unless --allow-variable names them.

Exits with the command's exit code, 128 and the number of the signal that ended it, 126 if it cannot be
executed, or 127 if there is no such command.`;

/** `longshore run`: a command with the variables of an environment. `command` is what follows `--`. */
export function addRunCommand(
  program: Command,
  context: CliContext,
  command: readonly string[] | undefined,
): void {
  addExamples(
    addScopeOptions(program.command("run"))
      .description("run a command with the variables of an environment")
      .usage("[options] -- <command> [arguments...]")
      .option("--allow-variable <name>", "pass on a variable with a refused name", collect)
      .allowExcessArguments()
      .addHelpText("after", DETAILS),
    "run -- npm start",
    "run -p storefront -e production --component web -- ./migrate --dry-run",
  ).action(async (_, self: Command) => {
    const [file, ...args] = command ?? [];
    if (!file || self.args.length > 0) throw new CliError(MISSING_COMMAND);
    const options = self.optsWithGlobals<Options>();
    const session = await openSession(context, options);
    const scope = await requireScope(context, session, options);
    context.output.note(await describeScope(session, scope, options));
    const variables = await readVariables(session, scope, options);
    const environment = createEnvironment(context, variables, options);
    context.exitCode = await execute(context, [file, ...args], environment);
  });
}

/** For people: whose variables the command gets. A key may read an environment and not its project. */
async function describeScope(
  session: Session,
  { title, environmentId }: VariableScope,
  { component }: Options,
): Promise<string> {
  const { name, project_id } = await session.client.get("/v1/environments/{environment_id}", {
    path: { environment_id: environmentId },
  });
  const project = await session.client
    .get("/v1/projects/{project_id}", { path: { project_id } })
    .catch((error: unknown) => {
      if (error instanceof ApiError) return { name: project_id };
      throw error;
    });
  const place = component === undefined ? name : `${title} in ${name}`;
  return `Using ${place} of ${project.name}, at ${session.url}`;
}

/** The variables of the component follow those of its environment. */
async function readVariables(
  session: Session,
  scope: VariableScope,
  options: Options,
): Promise<Variable[]> {
  if (options.component === undefined) return revealVariables(session, scope);
  const environment = environmentScope({ id: scope.environmentId, name: scope.environmentId });
  return [
    ...(await revealVariables(session, environment)),
    ...(await revealVariables(session, scope)),
  ];
}

/** The messages contain no values. */
function createEnvironment(
  context: CliContext,
  variables: readonly Variable[],
  { allowVariable: allowed = [] }: Options,
): Record<string, string> {
  const environment = new CommandEnvironment({}, { passed: [], allowed });
  const refused = environment.findRefused(variables.map(({ name }) => name));
  if (refused.length > 0) {
    const options = refused.map((name) => `--allow-variable ${name}`).join(" ");
    throw new CliError(
      `These variables could change how programs run: ${refused.join(", ")}. Rename them, or add ${options}`,
    );
  }
  const inherited = Object.entries(context.environment).flatMap(([name, value = ""]) =>
    name === "LONGSHORE_API_KEY" ? [] : [{ name, value }],
  );
  return environment.create([...inherited, ...variables]);
}

async function execute(
  { folder, stdin, output, signals }: CliContext,
  [file, ...args]: [string, ...string[]],
  env: Record<string, string>,
): Promise<number> {
  const hasTerminal = stdin.isTTY || output.stdout.isTTY || output.stderr.isTTY;
  const forwarded = FORWARDED.filter((each) => !hasTerminal || !SENT_BY_TERMINAL.includes(each));
  try {
    let child: ChildProcess | undefined;
    // With a listener, a signal does not end this process before the command.
    for (const each of SENT_BY_TERMINAL) signals.on(each, () => undefined);
    for (const each of forwarded) signals.on(each, () => child?.kill(each));
    child = spawn(file, args, {
      cwd: folder,
      env: env as NodeJS.ProcessEnv,
      stdio: "inherit",
    });
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    return code ?? SIGNAL_BASE + (signal ? constants.signals[signal] : 0);
  } catch (error) {
    throw describeFailure(error as NodeJS.ErrnoException, { file, args, env, folder });
  }
}

/** Only the error code: Node's message may quote an environment variable. */
function describeFailure(error: NodeJS.ErrnoException, program: StartedProgram): CliError {
  const { code = "an unknown error" } = error;
  const explanation = explainStartError(error, program);
  if (code === "ENOENT" && !explanation) {
    return new CliError(`There is no command ${program.file}.`, NOT_FOUND);
  }
  const message = `${program.file} cannot be executed: ${code}. ${explanation ?? ""}`;
  return new CliError(message.trimEnd(), NOT_EXECUTABLE);
}
