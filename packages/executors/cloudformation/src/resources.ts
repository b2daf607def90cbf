import type { StackEvent, StackResourceSummary } from "@aws-sdk/client-cloudformation";
import {
  REPORT_LIMITS,
  REPORTED_RESOURCE_STATUSES,
  type ResourceChange,
} from "../../../runner/src/report-lines.ts";
import type { StackApi } from "./stack-api.ts";

export const NESTED_STACK = "AWS::CloudFormation::Stack";
const DELETED = "DELETE_COMPLETE";

/** The contract has CloudFormation's statuses, except for resources that move to another stack. */
const MOVED: Readonly<Record<string, string>> = {
  EXPORT_IN_PROGRESS: "UPDATE_IN_PROGRESS",
  EXPORT_COMPLETE: "DELETE_SKIPPED",
  EXPORT_FAILED: "UPDATE_FAILED",
  EXPORT_ROLLBACK_IN_PROGRESS: "UPDATE_ROLLBACK_IN_PROGRESS",
  EXPORT_ROLLBACK_COMPLETE: "UPDATE_ROLLBACK_COMPLETE",
  EXPORT_ROLLBACK_FAILED: "UPDATE_ROLLBACK_FAILED",
};

/** What the contract calls the status. Undefined: it knows none like this. */
export function toStatus(status = ""): string | undefined {
  return REPORTED_RESOURCE_STATUSES.includes(status) ? status : MOVED[status];
}

/** A resource of an event or a list. That of a nested stack has the IDs on the way to it in its own. */
export function toResource(
  resource: StackEvent | StackResourceSummary,
  parent: string,
): ResourceChange | undefined {
  const { LogicalResourceId, PhysicalResourceId, ResourceType, ResourceStatus } = resource;
  const { ResourceStatusReason: reason } = resource;
  const status = toStatus(ResourceStatus);
  const time = "LastUpdatedTimestamp" in resource ? resource.LastUpdatedTimestamp : undefined;
  const timestamp = time ?? ("Timestamp" in resource ? resource.Timestamp : undefined);
  if (status === undefined || !LogicalResourceId) return undefined;
  return {
    template_id: joinIds(parent, LogicalResourceId),
    status,
    ...(ResourceType && { resource_type: ResourceType }),
    ...(PhysicalResourceId && { physical_id: PhysicalResourceId }),
    ...(reason && { status_reason: reason }),
    ...(timestamp && { timestamp: timestamp.toISOString() }),
  };
}

/** Such as `Network/Subnet`. The end tells most resources apart. */
export function joinIds(parent: string, id: string): string {
  const path = parent === "" ? id : `${parent}/${id}`;
  const maximum = REPORT_LIMITS.resourceNameLength;
  return path.length > maximum ? `…${path.slice(1 - maximum)}` : path;
}

/** All that the stack has, with what its nested stacks have. */
export async function listResources(
  api: StackApi,
  stackId: string,
  parent = "",
): Promise<ResourceChange[]> {
  const found: ResourceChange[] = [];
  for await (const each of api.readResources(stackId)) {
    const resource = toResource(each, parent);
    if (!resource || resource.status === DELETED) continue;
    found.push(resource);
    if (resource.resource_type === NESTED_STACK && resource.physical_id) {
      found.push(...(await listResources(api, resource.physical_id, resource.template_id)));
    }
  }
  return found;
}
