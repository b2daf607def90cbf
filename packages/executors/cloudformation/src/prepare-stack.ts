import type { Stack } from "@aws-sdk/client-cloudformation";
import { ProgramError } from "../../program/src/index.ts";
import { Pauses } from "./pauses.ts";
import type { StackApi } from "./stack-api.ts";
import type { StackRequest } from "./stack-request.ts";
import { adviseOnStatus, isInProgress } from "./stack-status.ts";

/**
 * Waits until what an earlier run has started is over. Returns the stack that is to be updated; undefined if it is to be
 * created. Throws a `ProgramError` if a person must act first.
 */
export async function prepareStack(
  api: StackApi,
  { stackName: name, token }: StackRequest,
  stop: AbortSignal,
): Promise<Stack | undefined> {
  const stack = await waitForEarlierOperation(api, await api.findStack(name), stop);
  const { StackStatus: status } = stack ?? {};
  if (stack === undefined || status === "DELETE_COMPLETE" || status === "REVIEW_IN_PROGRESS") {
    return undefined;
  }
  if (status === "ROLLBACK_COMPLETE") {
    await deleteStack(api, stack, { token: `${token}-delete`, stop });
    return undefined;
  }
  const advice = adviseOnStatus(stack);
  if (advice === undefined) return stack;
  throw new ProgramError(`The stack ${name} is ${status}. ${advice}`);
}

async function waitForEarlierOperation(
  api: StackApi,
  found: Stack | undefined,
  stop: AbortSignal,
): Promise<Stack | undefined> {
  let stack = found;
  const pauses = new Pauses(stop);
  if (isInProgress(stack?.StackStatus)) {
    console.log(
      `The stack ${stack?.StackName} is ${stack?.StackStatus}: an earlier operation goes on. Waiting for its end.`,
    );
  }
  while (stack?.StackId && isInProgress(stack.StackStatus)) {
    await pauses.wait();
    stack = await api.findStack(stack.StackId);
  }
  return stack;
}

/** Its creation has failed, so that it has nothing, and cannot be updated. By its ID: never a later one of the name. */
async function deleteStack(
  api: StackApi,
  { StackName: name, StackId: id = "" }: Stack,
  { token, stop }: { token: string; stop: AbortSignal },
): Promise<void> {
  console.log(
    `The stack ${name} is ROLLBACK_COMPLETE: its creation has failed, and it has nothing. Deleting it, to create ` +
      "it again.",
  );
  await api.deleteStack(id, token);
  const pauses = new Pauses(stop);
  for (;;) {
    const stack = await api.findStack(id);
    const { StackStatus: status = "DELETE_COMPLETE", StackStatusReason: reason } = stack ?? {};
    if (status === "DELETE_COMPLETE") return;
    // The deletion may not have begun.
    if (status !== "ROLLBACK_COMPLETE" && status !== "DELETE_IN_PROGRESS") {
      throw new ProgramError(`The stack ${name} is ${status}: ${reason ?? "no reason is given"}.`);
    }
    await pauses.wait();
  }
}
