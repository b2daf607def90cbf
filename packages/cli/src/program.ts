import { Command, CommanderError } from "commander";
import { RunnerError } from "../../runner/src/errors.ts";
import { useProxies } from "../../runner/src/proxies.ts";
import manifest from "../package.json" with { type: "json" };
import type { CliProcess } from "./cli-process.ts";
import { addApiCommand } from "./commands/api.ts";
import { addApprovalCommands } from "./commands/approvals.ts";
import { addAuditCommand } from "./commands/audit.ts";
import { addChangelogCommand } from "./commands/changelog.ts";
import { addCompletionCommand } from "./commands/completion.ts";
import { addComponentCommands } from "./commands/components.ts";
import { addConfigurationCommands } from "./commands/configuration.ts";
import { addConsoleCommand } from "./commands/console.ts";
import { addDeliveryCommands } from "./commands/deliveries.ts";
import { addDeploymentCommands } from "./commands/deployments.ts";
import { addEnvironmentCommands } from "./commands/environments.ts";
import { addFreezeCommands } from "./commands/freezes.ts";
import { addInitCommand } from "./commands/init.ts";
import { addIntegrationCommands } from "./commands/integrations.ts";
import { addInvitationCommands } from "./commands/invitations.ts";
import { addKeyCommands } from "./commands/keys.ts";
import { addLinkCommand } from "./commands/link.ts";
import { addLoginCommands } from "./commands/login.ts";
import { addMemberCommands } from "./commands/members.ts";
import { addNameCandidates } from "./commands/name-candidates.ts";
import { addOutputsCommand } from "./commands/outputs.ts";
import { addPoolCommands } from "./commands/pools.ts";
import { addProjectCommands } from "./commands/projects.ts";
import { addProtectCommand } from "./commands/protect.ts";
import { addRunCommand } from "./commands/run.ts";
import { addRunnerCommand } from "./commands/runner.ts";
import { addServeCommand } from "./commands/serve.ts";
import { addServiceAccountCommands } from "./commands/service-accounts.ts";
import { addSessionCommands } from "./commands/sessions.ts";
import { addStackCommands } from "./commands/stacks.ts";
import { addStatusCommand } from "./commands/status.ts";
import { addTrustCommands } from "./commands/trusts.ts";
import { addVariableCommands } from "./commands/vars.ts";
import { CliError, ExitCode, explain } from "./errors.ts";
import { Output } from "./output.ts";
import { splitArguments } from "./raw-arguments.ts";
import type { CliContext } from "./session.ts";

const DESCRIPTION = "The command line of Longshore, the control plane of a deployment platform.";

/** Of help that is not for a terminal. */
const DEFAULT_COLUMNS = 80;

const EXIT_CODES = `
Exit codes:
  0 succeeded, 1 usage error or refused request, 2 deployment failed, 3 canceled, 4 superseded,
  5 timed out waiting, 6 no response

Environment variables:
  LONGSHORE_URL, LONGSHORE_API_KEY   take precedence over the profile of longshore login
  LONGSHORE_CONFIG_DIR               the folder of the stored logins
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY  the proxies of requests, and the hosts without one
  NO_COLOR                           turns colours off`;

/** All commands. `raw` are the arguments that only the command itself reads. */
export function createProgram(context: CliContext, raw?: readonly string[]): Command {
  const { output } = context;
  const program = new Command("longshore")
    .description(DESCRIPTION)
    .option("--profile <name>", "the stored login to use")
    .version(manifest.version, "-V, --version", "print the version")
    .helpOption("-h, --help", "show the options and examples")
    .showHelpAfterError("Add --help for the options and examples.")
    .addHelpText("after", EXIT_CODES)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void output.stdout.write(text),
      writeErr: (text) => void output.stderr.write(text),
      getOutHelpWidth: () => output.stdout.columns || DEFAULT_COLUMNS,
      getErrHelpWidth: () => output.stderr.columns || DEFAULT_COLUMNS,
      outputError: (text, write) => write(text.replace(/^error: /, "")),
    });
  addLoginCommands(program, context);
  addInitCommand(program, context);
  addLinkCommand(program, context);
  addStatusCommand(program, context);
  addConsoleCommand(program, context);
  addProjectCommands(program, context);
  addEnvironmentCommands(program, context);
  addConfigurationCommands(program, context);
  addComponentCommands(program, context);
  addStackCommands(program, context);
  addMemberCommands(program, context);
  addInvitationCommands(program, context);
  addServiceAccountCommands(program, context);
  addTrustCommands(program, context);
  addKeyCommands(program, context);
  addSessionCommands(program, context);
  addPoolCommands(program, context);
  addIntegrationCommands(program, context);
  addDeploymentCommands(program, context);
  addApprovalCommands(program, context);
  addProtectCommand(program, context);
  addFreezeCommands(program, context);
  addOutputsCommand(program, context);
  addVariableCommands(program, context);
  addRunCommand(program, context, raw);
  addRunnerCommand(program, context, raw);
  addServeCommand(program, context, raw);
  addDeliveryCommands(program, context);
  addChangelogCommand(program, context);
  addAuditCommand(program, context);
  addApiCommand(program, context);
  addNameCandidates(program, context);
  addCompletionCommand(program, context);
  return program;
}

/** Runs the command of the arguments. Returns what to exit with. */
export async function runProgram(args: readonly string[], process: CliProcess): Promise<number> {
  const context: CliContext = {
    environment: process.env,
    program: process.argv[1] ?? "",
    folder: process.cwd(),
    userId: process.getuid?.(),
    stdin: process.stdin,
    output: new Output(process),
    signals: process,
    exitCode: ExitCode.succeeded,
  };
  const { parsed, raw } = splitArguments(args);
  let restore: () => void = () => undefined;
  try {
    restore = await useProxies(context.environment);
    await createProgram(context, raw).parseAsync(parsed, { from: "user" });
    return context.exitCode;
  } catch (thrown) {
    // Commander has printed what is wrong.
    if (thrown instanceof CommanderError) return thrown.exitCode;
    const error = thrown instanceof RunnerError ? new CliError(thrown.message) : explain(thrown);
    if (!(error instanceof CliError)) throw error;
    context.output.note(error.message);
    return error.exitCode;
  } finally {
    restore();
  }
}
