import type { Change, DescribeChangeSetOutput, Stack } from "@aws-sdk/client-cloudformation";
import { ProgramError } from "../../program/src/index.ts";
import { Pauses, StoppedError } from "./pauses.ts";
import type { StackApi } from "./stack-api.ts";
import type { StackRequest } from "./stack-request.ts";

/** How CloudFormation says that there is nothing to change. */
const NO_CHANGES = /didn't contain changes|no updates are to be performed/i;
const CHANGED_MEANWHILE =
  "The stack was changed by something else meanwhile, so that the change set is void. Deploy again.";

/** A change set that may be executed. */
export interface ChangeSet {
  id: string;
  stackId: string;
}

/**
 * Creates the change set of the deployment, and prints it. Undefined: nothing changes. One that is of no use is deleted.
 */
export async function createChangeSet(
  api: StackApi,
  request: StackRequest,
  stack: Stack | undefined,
  stop: AbortSignal,
): Promise<ChangeSet | undefined> {
  const { stackName: name } = request;
  const id = await startChangeSet(api, request, stack);
  if (id === undefined) return undefined;
  let isOfUse = false;
  try {
    const found = await waitForChangeSet(api, { name, id }, stop);
    const { Status: status, StatusReason: reason = "It gives no reason.", StackId } = found;
    if (status === "FAILED" && NO_CHANGES.test(reason)) return undefined;
    if (status !== "CREATE_COMPLETE") throw new ProgramError(`CloudFormation refuses: ${reason}`);
    requireAvailable(found);
    await printChanges(api, { name, id });
    if (stop.aborted) throw new StoppedError();
    isOfUse = true;
    return { id: found.ChangeSetId ?? id, stackId: StackId ?? name };
  } finally {
    if (!isOfUse) await deleteQuietly(api, { name, id });
  }
}

/**
 * Executes the change set. If the response is lost or is an error, the change set or the events say whether it is
 * executed nevertheless.
 */
export async function executeChangeSet(
  api: StackApi,
  { id, stackId }: ChangeSet,
  token: string,
): Promise<void> {
  try {
    await api.executeChangeSet(stackId, id, token);
  } catch (error) {
    const found = await api.findChangeSet(stackId, id);
    if (found?.ExecutionStatus?.startsWith("EXECUTE_")) return;
    if (!found && (await hasEventOf(api, stackId, token))) return;
    throw found?.ExecutionStatus === "AVAILABLE" ? error : new ProgramError(CHANGED_MEANWHILE);
  }
}

/** Undefined: nothing changes, as some services with this API say at once. */
async function startChangeSet(
  api: StackApi,
  { changeSet }: StackRequest,
  stack: Stack | undefined,
): Promise<string | undefined> {
  try {
    const type = stack ? "UPDATE" : "CREATE";
    return await api.createChangeSet({ ...changeSet, ChangeSetType: type });
  } catch (error) {
    if (stack && error instanceof Error && NO_CHANGES.test(error.message)) return undefined;
    throw error;
  }
}

async function waitForChangeSet(
  api: StackApi,
  { name, id }: { name: string; id: string },
  stop: AbortSignal,
): Promise<DescribeChangeSetOutput> {
  const pauses = new Pauses(stop);
  for (;;) {
    const found = await api.findChangeSet(name, id);
    if (!found) throw new ProgramError(CHANGED_MEANWHILE);
    if (!/^CREATE_(PENDING|IN_PROGRESS)$/.test(found.Status ?? "")) return found;
    await pauses.wait();
  }
}

function requireAvailable({ ExecutionStatus: status }: DescribeChangeSetOutput): void {
  if (status === "AVAILABLE") return;
  throw new ProgramError(
    status?.startsWith("EXECUTE_")
      ? "An earlier run of this deployment has executed its change set. Deploy again."
      : CHANGED_MEANWHILE,
  );
}

async function printChanges(
  api: StackApi,
  { name, id }: { name: string; id: string },
): Promise<void> {
  console.log(`Changes of the stack ${name}:`);
  let count = 0;
  for await (const change of api.readChanges(name, id)) {
    count += 1;
    console.log(`  ${describeChange(change)}`);
  }
  if (count === 0) console.log("  None of resources: of parameters, tags, outputs or the like.");
}

/** One line, such as `Modify Site (AWS::S3::Bucket), which may replace it`. */
export function describeChange({ ResourceChange: change = {} }: Change): string {
  const { Action, LogicalResourceId, ResourceType, Replacement } = change;
  const consequences: Record<string, string> = {
    True: ", which replaces it",
    Conditional: ", which may replace it",
  };
  const consequence = Action === "Modify" ? (consequences[Replacement ?? ""] ?? "") : "";
  return `${Action} ${LogicalResourceId} (${ResourceType})${consequence}`;
}

async function deleteQuietly(
  api: StackApi,
  { name, id }: { name: string; id: string },
): Promise<void> {
  try {
    await api.deleteChangeSet(name, id);
  } catch (error) {
    console.log(`The change set ${id} stays: ${error instanceof Error ? error.message : error}`);
  }
}

async function hasEventOf(api: StackApi, stackId: string, token: string): Promise<boolean> {
  for await (const event of api.readEvents(stackId)) {
    if (event.ClientRequestToken === token) return true;
  }
  return false;
}
