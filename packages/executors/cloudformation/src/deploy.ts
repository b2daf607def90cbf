import { setTimeout as sleep } from "node:timers/promises";
import type { Stack } from "@aws-sdk/client-cloudformation";
import { type ProgramContext, ProgramError, type Report } from "../../program/src/index.ts";
import { type ChangeSet, createChangeSet, executeChangeSet } from "./change-set.ts";
import { findTarget } from "./credentials.ts";
import { explainError } from "./explain-error.ts";
import { Execution } from "./follow-execution.ts";
import { reportOutputs } from "./outputs.ts";
import { Pauses, StoppedError } from "./pauses.ts";
import { prepareStack } from "./prepare-stack.ts";
import { listResources } from "./resources.ts";
import type { CloudFormationSettings } from "./settings.ts";
import { StackApi } from "./stack-api.ts";
import { readRequest } from "./stack-request.ts";
import { adviseOnStatus, isInProgress, isSuccess } from "./stack-status.ts";

/** After its begin, CloudFormation may not know for a moment that there is an update to cancel. */
const CANCELLATIONS = 3;
const CANCEL_AGAIN_AFTER_MS = 500;
/** After these, the stack has been changed by something else. */
const STALE_READS = 10;

interface Run {
  api: StackApi;
  report: Report;
  stop: AbortSignal;
  /** Of the requests that this run makes, so that it finds what they have begun. */
  token: string;
}

/** Deploys the template with a change set. See docs/deploy-with/cloudformation.md. */
export async function deploy(context: ProgramContext<CloudFormationSettings>): Promise<void> {
  try {
    await deployStack(context);
  } catch (error) {
    throw explainError(error);
  }
}

async function deployStack({
  input,
  settings,
  report,
  stop,
}: ProgramContext<CloudFormationSettings>): Promise<void> {
  const request = readRequest(input, settings);
  const api = new StackApi(await findTarget(input, settings));
  const run = { api, report, stop, token: request.token };
  const existing = await prepareStack(api, request, stop);
  const changeSet = await createChangeSet(api, request, existing, stop);
  const stack = changeSet
    ? await execute(run, changeSet, existing !== undefined)
    : await keep(api, existing);
  report.allResources(await listResources(api, stack.StackId ?? ""));
  reportOutputs(report, stack, settings.parameters ?? {});
}

/** Nothing changes. */
async function keep(api: StackApi, existing: Stack | undefined): Promise<Stack> {
  const stack = await api.findStack(existing?.StackId ?? "");
  const { StackStatus: status } = stack ?? {};
  if (!stack || status?.endsWith("_FAILED")) {
    throw new ProgramError(`Nothing changes, but the stack is ${status ?? "deleted"}.`);
  }
  console.log(`Nothing changes in the stack ${stack.StackName}.`);
  return stack;
}

/** Returns the stack after a success. */
async function execute(run: Run, changeSet: ChangeSet, isUpdate: boolean): Promise<Stack> {
  const { api, report, token } = run;
  const { stackId } = changeSet;
  const execution = new Execution(api, report, { stackId, token });
  await execution.prepare();
  await executeChangeSet(api, changeSet, token);
  try {
    const stack = await follow(run, execution, stackId);
    if (stack && isSuccess(execution.end?.ResourceStatus)) return stack;
    throw new ProgramError(describeFailure(stack, execution));
  } catch (error) {
    const reason =
      error instanceof StoppedError ? await cancel(run, execution, { stackId, isUpdate }) : error;
    await reportQuietly(run, stackId);
    throw reason;
  }
}

/** Returns the stack when its operation is over. It may show an earlier status for a moment after the event of the end. */
async function follow(
  { api, stop }: Run,
  execution: Execution,
  stackId: string,
): Promise<Stack | undefined> {
  const pauses = new Pauses(stop);
  for (let reads = 0; ; ) {
    if (await execution.look()) pauses.shorten();
    if (execution.end) {
      const stack = await api.findStack(stackId);
      const { StackStatus: status } = stack ?? {};
      reads += 1;
      const isCurrent = status === execution.end.ResourceStatus || reads > STALE_READS;
      if (isCurrent && !isInProgress(status)) return stack;
    }
    await pauses.wait();
  }
}

function describeFailure(stack: Stack | undefined, { failure, end }: Execution): string {
  const { StackStatus: status = end?.ResourceStatus, StackStatusReason: reason } = stack ?? {};
  const why = failure ?? reason ?? end?.ResourceStatusReason ?? "CloudFormation gives no reason.";
  const advice = stack && adviseOnStatus(stack);
  return [/[.!?)\]]$/.test(why) ? why : `${why}.`, `The stack is ${status}.`, advice]
    .filter(Boolean)
    .join(" ");
}

/** Says what is left to happen. CloudFormation cannot cancel a creation. */
async function cancel(
  { api, token }: Run,
  execution: Execution,
  { stackId, isUpdate }: { stackId: string; isUpdate: boolean },
): Promise<ProgramError> {
  for (let count = 0; isUpdate && count < CANCELLATIONS; count += 1) {
    if (count > 0) await sleep(CANCEL_AGAIN_AFTER_MS);
    const isCanceled = await api.cancelUpdate(stackId, `${token}-cancel`);
    await execution.look();
    if (isCanceled) {
      return new ProgramError(
        "Stopped: CloudFormation rolls the update back. The next deployment waits for its end.",
      );
    }
    if (execution.end) break;
  }
  const what = isUpdate ? "the update" : "the creation";
  return new ProgramError(
    execution.end
      ? `Stopped when the stack was ${execution.end.ResourceStatus}.`
      : `Stopped, but CloudFormation does not cancel ${what}. The next deployment waits for its end.`,
  );
}

/** What is there after a failure, whose reason counts. */
async function reportQuietly({ api, report }: Run, stackId: string): Promise<void> {
  try {
    report.allResources(await listResources(api, stackId));
  } catch (error) {
    console.log(
      `The resources are not reported: ${error instanceof Error ? error.message : error}`,
    );
  }
}
