import type { z } from "@hono/zod-openapi";
import type { LeaseHeaders, StackReport } from "./schemas.ts";

export function toLease(
  { attempt_id }: { attempt_id: string },
  headers: z.output<typeof LeaseHeaders>,
) {
  return { attemptId: attempt_id, leaseToken: headers["lease-token"] };
}

export function toReport({ seq, status, status_reason, resources }: z.output<typeof StackReport>) {
  return {
    seq,
    status,
    statusReason: status_reason ?? null,
    resources: resources?.map((each) => ({
      templateId: each.template_id,
      physicalId: each.physical_id,
      resourceType: each.resource_type,
      status: each.status,
      statusReason: each.status_reason ?? null,
      timestamp: each.timestamp === undefined ? undefined : Date.parse(each.timestamp),
    })),
  };
}
