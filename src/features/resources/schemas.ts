import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../http/pagination.ts";
import { EnvironmentParams, textParam } from "../../http/params.ts";
import { Identifier, Timestamp } from "../../lib/schemas.ts";
import { StackParams } from "../stacks/index.ts";
import { RESOURCE_STATUSES } from "./model.ts";

export const ResourceStatus = z
  .enum(RESOURCE_STATUSES)
  .openapi("ResourceStatus", { description: "A resource status of AWS CloudFormation." });

export const Resource = z
  .object({
    id: Identifier,
    stack_id: Identifier,
    environment_id: Identifier,
    template_id: z
      .string()
      .openapi({ description: "The logical ID in the stack's template.", example: "Bucket" }),
    physical_id: z
      .string()
      .openapi({ description: "The ID at the provider.", example: "shop-bucket-1x2y3z" }),
    resource_type: z.string().openapi({ example: "AWS::S3::Bucket" }),
    status: ResourceStatus,
    status_reason: z.string().optional(),
    timestamp: Timestamp.openapi({ description: "When the provider last changed the resource." }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .openapi("Resource");

export const ResourceList = envelopeOf(Resource, "ResourceList");

const id = textParam("id", "resource");

export const ResourceParams = z.object(id);
export const ResourceOfStackParams = StackParams.extend(id);
export const ResourceOfEnvironmentParams = EnvironmentParams.extend(id);
