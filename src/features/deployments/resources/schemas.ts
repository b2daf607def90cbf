import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { EnvironmentParams, textParam } from "../../../http/params.ts";
import { identifierOf, timestampOf } from "../../../lib/schemas.ts";
import { StackParams } from "../../projects/stacks/schemas.ts";
import { RESOURCE_STATUSES } from "./model.ts";

export const ResourceStatus = z
  .enum(RESOURCE_STATUSES)
  .openapi("ResourceStatus", { description: "A resource status of AWS CloudFormation." });

const resourceParam = textParam("resource_id", "resource", "resource");

export const ResourceParams = z.object(resourceParam);
export const ResourceOfStackParams = StackParams.extend(resourceParam);
export const ResourceOfEnvironmentParams = EnvironmentParams.extend(resourceParam);

export const Resource = z
  .object({
    id: identifierOf("resource", "The resource's own ID in this service."),
    stack_id: identifierOf("stack", "The stack that the resource belongs to."),
    environment_id: identifierOf("environment", "The environment that the stack belongs to."),
    template_id: z
      .string()
      .openapi({ description: "The logical ID in the stack's template.", example: "Bucket" }),
    physical_id: z.string().openapi({
      description: "The ID at the provider. Empty until the provider has assigned one.",
      example: "shop-bucket-1x2y3z",
    }),
    resource_type: z
      .string()
      .openapi({ description: "The provider's name of the type.", example: "AWS::S3::Bucket" }),
    status: ResourceStatus,
    status_reason: z.string().optional().openapi({
      description: "Why the resource has this status. Absent if the runner reported none.",
      example: "Resource creation initiated",
    }),
    timestamp: timestampOf("When the provider last changed the resource."),
    created_at: timestampOf("When a runner first reported the resource."),
    updated_at: timestampOf("When a report last changed the resource."),
  })
  .openapi("Resource", {
    description: "One resource of a stack at the provider, as runners report it.",
  });

export const ResourceList = envelopeOf(Resource, "ResourceList");
