import type { Stack } from "@aws-sdk/client-cloudformation";

const SUCCEEDED = ["CREATE_COMPLETE", "UPDATE_COMPLETE", "IMPORT_COMPLETE"];

/** Whether an operation goes on. A stack with change sets only has none. */
export function isInProgress(status: string | undefined): boolean {
  return status !== "REVIEW_IN_PROGRESS" && status?.endsWith("_IN_PROGRESS") === true;
}

/** Whether the status is that of a create or an update that has succeeded. */
export function isSuccess(status: string | undefined): boolean {
  return SUCCEEDED.includes(status ?? "");
}

/** What a person must do before the stack can be updated. Undefined: nothing. */
export function adviseOnStatus({
  StackStatus: status = "CREATE_COMPLETE",
  StackId: id = "",
}: Pick<Stack, "StackStatus" | "StackId">): string | undefined {
  const region = id.split(":")[3] ?? "";
  const command = (name: string) =>
    `aws cloudformation ${name} --region ${region} --stack-name ${id}`;
  switch (status) {
    case "UPDATE_ROLLBACK_FAILED":
      return (
        "Its events say which resource could not be rolled back. Repair that resource, continue the rollback with " +
        `${command("continue-update-rollback")}, and deploy again.`
      );
    case "ROLLBACK_FAILED":
    case "DELETE_FAILED":
      return (
        "Its events say which resource could not be deleted. Repair that resource, delete the stack with " +
        `${command("delete-stack")}, and deploy again.`
      );
    case "IMPORT_ROLLBACK_FAILED":
      return "Its events say why. Repair it in the console of CloudFormation, and deploy again.";
    default:
      return undefined;
  }
}
