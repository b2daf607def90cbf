import { z } from "@hono/zod-openapi";
import { documented } from "#documented";
import { EnvironmentParams, textParam } from "../../../http/params.ts";
import { lazy } from "../../../lib/lazy.ts";
import { component } from "../../../lib/schemas.ts";
import { StackParams } from "../../projects/stacks/index.ts";
import { RESOURCE_STATUSES } from "./model.ts";

export const ResourceStatus = component("ResourceStatus", () =>
  z
    .enum(RESOURCE_STATUSES)
    .openapi(documented(() => ({ description: "A resource status of AWS CloudFormation." }))),
);

const resourceParam = lazy(() => textParam("resource_id", "resource", "resource"));

export const ResourceParams = lazy(() => z.object(resourceParam()));
export const ResourceOfStackParams = lazy(() => StackParams().extend(resourceParam()));
export const ResourceOfEnvironmentParams = lazy(() => EnvironmentParams().extend(resourceParam()));
