import type { Command } from "commander";
import type { Schemas } from "../../../client/src/index.ts";
import { addExamples } from "../command-options.ts";
import { hasColors, LogPrinter } from "../deployments/display.ts";
import { parseDuration } from "../deployments/duration.ts";
import { findDeployment } from "../deployments/find-deployment.ts";
import { exitCodeOf, followDeployment } from "../deployments/follow.ts";
import { LiveLog } from "../deployments/live-log.ts";
import { StackNames } from "../deployments/stack-names.ts";
import { CliError } from "../errors.ts";
import { KINDS } from "../named-kinds.ts";
import { findRecord, type NamedRecord } from "../names.ts";
import { type CliContext, openSession, type Session } from "../session.ts";
import { addEnvironmentOption, type EnvironmentOptions } from "../target.ts";

type Deployment = Schemas["Deployment"];
type Line = Schemas["LogLine"];

interface Options extends EnvironmentOptions {
  follow?: boolean;
  stack?: string;
  exitStatus?: boolean;
  timeout?: number;
  json?: boolean;
  profile?: string;
}

interface Sink {
  push(line: Line): void;
  /** Leaves the terminal to a note. */
  pause?(): void;
  flush(): void;
}

const HELP = `
--follow continues after lost connections and restarts of the service, until the deployment has ended. The exit
code is then 0, or with --exit-status the outcome of the deployment: 0 succeeded, 2 failed, 3 canceled,
4 superseded. It is 5 after --timeout, and 6 without a response of the service for 5 minutes.
A log is untrusted text: escape sequences other than colours are shown, not obeyed.`;

/** `longshore logs`. */
export function addLogsCommand(program: Command, context: CliContext): void {
  const command = program
    .command("logs")
    .description("print the log of a deployment")
    .argument("[deployment]", "ID; the newest of the environment by default")
    .option("-f, --follow", "print lines as they arrive, until the deployment has ended")
    .option("--stack <name>", "only this stack, by name or ID")
    .option("--exit-status", "with --follow: exit with the outcome of the deployment")
    .option(
      "--timeout <duration>",
      "with --follow: for how long, such as 90s or 10m",
      parseDuration,
    )
    .option("--json", "print each record of the log as JSON, in a line");
  addEnvironmentOption(command).addHelpText("after", HELP);
  addExamples(
    command,
    "logs",
    "logs --follow --exit-status",
    "logs 1CgMoo6Wfj9u5hu6v1REVC --stack web",
  );
  command.action((id: string | undefined, _, self: Command) =>
    printLog(context, id, self.optsWithGlobals()),
  );
}

async function printLog(
  context: CliContext,
  id: string | undefined,
  options: Options,
): Promise<void> {
  if (!options.follow && (options.exitStatus || options.timeout !== undefined)) {
    throw new CliError("--exit-status and --timeout need --follow.");
  }
  const session = await openSession(context, options);
  const deployment = await findDeployment(context, session, id, options);
  const stackId = await findStack(session, deployment, options.stack);
  const sink = await openSink(context, session, deployment, options);
  if (options.follow) await followLog(context, session, deployment, { ...options, stackId, sink });
  else await printLines(session, deployment, { stackId, sink });
}

async function followLog(
  context: CliContext,
  session: Session,
  { id }: Deployment,
  { timeout, exitStatus, stackId, sink }: Options & { stackId: string | undefined; sink: Sink },
): Promise<void> {
  const { output } = context;
  let shown = "";
  const note = (text: string) => {
    sink.pause?.();
    output.note(text);
  };
  try {
    const { status } = await followDeployment(session.client, id, {
      timeoutMs: timeout,
      stackId,
      onLine: (line) => sink.push(line),
      onStatus: (progress) => {
        if (progress.status !== shown) note(`The deployment is ${progress.status}.`);
        shown = progress.status;
      },
      onIncompleteLog: () => note(`The rest of the log is late. Run: longshore logs ${id}`),
    });
    if (exitStatus) context.exitCode = exitCodeOf(status);
  } finally {
    sink.flush();
  }
}

async function printLines(
  { client }: Session,
  { id }: Deployment,
  { stackId, sink }: { stackId: string | undefined; sink: Sink },
): Promise<void> {
  const lines = client.list("/v1/deployments/{deployment_id}/logs", {
    path: { deployment_id: id },
    query: stackId === undefined ? {} : { stack_id: stackId },
  });
  for await (const line of lines) sink.push(line);
  sink.flush();
}

async function openSink(
  { output, environment }: CliContext,
  session: Session,
  { environment_id }: Deployment,
  { json, follow }: Options,
): Promise<Sink> {
  if (json) {
    return { push: (line) => output.jsonLine(line), flush: () => undefined };
  }
  const names = await StackNames.read(session, environment_id);
  const isLive = follow && output.stdout.isTTY && environment["TERM"] !== "dumb";
  if (isLive) return new LiveLog(output, names);
  return new LogPrinter(names, hasColors(output, output.stdout), (line) => output.print(line));
}

/** A stack that is deleted has only its ID. */
async function findStack(
  session: Session,
  { environment_id, stack_ids }: Deployment,
  name: string | undefined,
): Promise<string | undefined> {
  if (name === undefined || stack_ids.includes(name)) return name;
  const { id } = await findRecord<NamedRecord & { id: string }>(
    session,
    KINDS.stack,
    { environment_id },
    name,
  );
  if (stack_ids.includes(id)) return id;
  throw new CliError(`The deployment does not deploy the stack ${name}. Omit --stack.`);
}
