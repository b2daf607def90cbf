import type {
  AttemptInput,
  Completion,
  DeliveredVariables,
  InputStack,
  StartedAttempt,
} from "./api-types.ts";
import type { AttemptLog } from "./attempt-log.ts";
import type { CommandResult } from "./command.ts";
import { readNeeds } from "./executors/needs.ts";
import { quote } from "./executors/quote.ts";
import { runPlan } from "./executors/run-stack.ts";
import { planStacks, type StackPlan, takesEnvironment } from "./executors/stack-plans.ts";
import type { HaltReason, Lease } from "./lease.ts";
import type { Options } from "./options.ts";
import { type PatchFile, writePatchFile } from "./patch-file.ts";
import { refusedCompletion, refusedVariables } from "./refusal.ts";
import { stackEnvironment, toLine } from "./stack-environment.ts";
import { StackFolder } from "./stack-folder.ts";
import { RunInput, type StackInput } from "./stack-input.ts";
import { type StackEnd, StackReporter } from "./stack-reporter.ts";
import { runStacks } from "./stack-schedule.ts";
import { variablesOfStack } from "./stack-variables.ts";

const NO_VARIABLES: DeliveredVariables = { variables: [], stacks: [] };

const COMPLETIONS = {
  canceled: {
    outcome: "canceled",
    message: "The command was stopped: the server asked to cancel.",
  },
  interrupted: {
    outcome: "canceled",
    message: "The command was stopped: its runner was told to end.",
  },
  lease_expired: {
    outcome: "failed",
    failure_reason: "lease_expired",
    message: "The command was stopped: the server did not answer for as long as the lease is.",
  },
} as const satisfies Record<Exclude<HaltReason, "lost">, Completion>;

export interface DeploymentRun {
  lease: Lease;
  started: StartedAttempt;
  options: Options;
  log: AttemptLog;
  /** Aborted to end the command immediately. */
  force: AbortSignal;
}

interface StackRun extends DeploymentRun {
  input: RunInput;
  variables: DeliveredVariables;
  patchPath: string;
  plans: ReadonlyMap<string, StackPlan>;
}

/** Executes a deployment that has started. The patch file exists only during the execution. */
export async function runDeployment(run: DeploymentRun): Promise<Completion> {
  let patchFile: PatchFile;
  try {
    patchFile = writePatchFile(run.started.input.deployment.patch);
  } catch (error) {
    return notWritten("patch_not_written", "The patch", error);
  }
  try {
    return await deployStacks(run, patchFile.path);
  } finally {
    patchFile.remove();
  }
}

/** Deploys the stacks in the order of their needs. The server marks those that did not start as skipped. */
async function deployStacks(run: DeploymentRun, patchPath: string): Promise<Completion> {
  const { lease, options, log } = run;
  const { stacks } = run.started.input;
  // Read once: the server allows it only with a recent heartbeat, and audits every read.
  const variables = lease.halted.aborted ? NO_VARIABLES : await lease.readVariables();
  const secrets = [...options.environment.secrets, ...options.credential.known];
  const isShared = options.parallel > 1;
  log.start(variables.variables, secrets, { intervals: lease.intervals, isShared });
  const input = new RunInput(run.started.input);
  const plans = planStacks(
    stacks.map((stack) => input.of(stack)),
    options,
  );
  if (!(plans instanceof Map)) return refuse(run, plans, plans.message ?? "");
  const names = stacks
    .filter(({ id }) => takesEnvironment(plans.get(id)))
    .flatMap(({ id }) => variablesOfStack(variables, id).map(({ name }) => name));
  const refused = options.environment.findRefused(names);
  if (refused.length > 0) return refuseVariables(run, refused);
  const [failure] = await runStacks({
    stacks,
    needs: readNeeds(run.started.input.configuration, namesIn(run.started.input)),
    parallel: options.parallel,
    continueOnFailure: run.started.input.deployment.continue_on_failure ?? false,
    isHalted: () => lease.halted.aborted,
    run: (stack) => deployStack({ ...run, input, variables, patchPath, plans }, stack),
    skip: (stack, failed) => skipStack(run, stack, failed),
  });
  return completionOfHalt(lease) ?? failure ?? { outcome: "succeeded" };
}

function namesIn({ stacks, needed_stacks: needed = [] }: AttemptInput): Set<string> {
  return new Set([...stacks, ...needed].map(({ name }) => name.normalize()));
}

async function skipStack(
  { lease }: DeploymentRun,
  { id, name }: InputStack,
  failed: InputStack,
): Promise<void> {
  const status_reason = `Needs ${quote(failed.name)}, which failed.`;
  console.log(`Stack ${toLine(name)} (${id}): skipped. ${status_reason}`);
  await lease.report(id, { seq: 1, status: "skipped", status_reason });
}

function refuseVariables(run: DeploymentRun, names: readonly string[]): Promise<Completion> {
  const explanation = refusedVariables(names, run.options.environment);
  return refuse(run, refusedCompletion(names), explanation);
}

/** Explains it once, in the log. Each stack gets the message of the completion. */
async function refuse(
  { started, log }: DeploymentRun,
  completion: Completion,
  explanation: string,
): Promise<Completion> {
  const [first] = started.input.stacks;
  if (first !== undefined) {
    log.note(first.id, explanation);
    await log.endStack(first.id);
  }
  return completion;
}

/** Returns how to complete the attempt if the stack failed. */
async function deployStack(run: StackRun, stack: InputStack): Promise<Completion | undefined> {
  const stackInput = run.input.of(stack);
  let folder: StackFolder;
  try {
    folder = new StackFolder(stackInput);
  } catch (error) {
    return notWritten("input_not_written", "The input of the command", error);
  }
  try {
    return await runStack(run, stackInput, folder);
  } finally {
    await folder.remove();
  }
}

async function runStack(
  run: StackRun,
  stackInput: StackInput,
  folder: StackFolder,
): Promise<Completion | undefined> {
  const { lease, input, log } = run;
  const { id: stackId, name } = stackInput.stack;
  const reporter = new StackReporter(lease, { stackId, file: folder.report, log });
  await reporter.begin();
  if (lease.halted.aborted) return undefined;
  const label = `Stack ${toLine(name)} (${stackId})`;
  console.log(`${label}: in progress.`);
  const result = await runReporting(run, stackInput, { folder, reporter });
  if (lease.haltReason === "lost") return undefined;
  const end = toEnd(result, lease.haltReason, reporter.statusReason);
  console.log(`${label}: ${end.status}. ${end.status_reason ?? ""}`.trimEnd());
  const outputs = await reporter.finish(end);
  if (end.status === "succeeded") input.setOutputs(stackId, outputs);
  if (end.status !== "failed") return undefined;
  return { outcome: "failed", failure_reason: "stack_failed", message: end.status_reason ?? "" };
}

/** Runs what deploys the stack, and sends what it reports meanwhile. */
async function runReporting(
  { lease, options, force, log, variables, patchPath, plans }: StackRun,
  input: StackInput,
  { folder, reporter }: { folder: StackFolder; reporter: StackReporter },
): Promise<CommandResult> {
  const { id: stackId } = input.stack;
  const run = {
    ...options,
    plan: plans.get(stackId),
    input,
    variables: variablesOfStack(variables, stackId),
    description: stackEnvironment(input, patchPath, folder),
    writeSettings: (values: object) => folder.writeSettings(values),
  };
  const over = new AbortController();
  const sending = reporter.sendUntil(over.signal);
  const onOutput = (bytes: Buffer) => log.write(stackId, bytes);
  const { graceMs } = options;
  const result = await runPlan(run, { stop: lease.halted, force, graceMs, onOutput });
  over.abort();
  await sending;
  await reporter.readRest();
  await log.endStack(stackId);
  return result;
}

/** A stopped command did not fail. A command that succeeded before the stop counts as succeeded. */
function toEnd(
  { ok, reason = "" }: CommandResult,
  haltReason: Exclude<HaltReason, "lost"> | undefined,
  statusReason: string | undefined,
): StackEnd {
  if (ok) return { status: "succeeded" };
  if (!haltReason) return { status: "failed", status_reason: statusReason || reason };
  const { outcome, message } = COMPLETIONS[haltReason];
  return { status: outcome, status_reason: message };
}

function completionOfHalt({ haltReason }: Lease): Completion | undefined {
  return haltReason === undefined || haltReason === "lost" ? undefined : COMPLETIONS[haltReason];
}

function notWritten(failure_reason: string, what: string, error: unknown): Completion {
  const { code = "an unknown error" } = error as NodeJS.ErrnoException;
  const message = `${what} could not be written to a file: ${code}.`;
  console.error(message);
  return { outcome: "failed", failure_reason, message };
}
