import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { component, identifierOf, identifiersOf, timestampOf } from "../../../lib/schemas.ts";
import { DEFAULT_RUN_SECONDS } from "../../tenancy/model.ts";
import { ENVIRONMENTS, Name, RUN_TIME } from "./schemas.ts";

export const RunnerPool = component("RunnerPool", () =>
  z
    .object({
      id: identifierOf("runnerPool", "The `pool_id` in the paths."),
      org_id: identifierOf("organization", "The organization that owns the pool."),
      name: Name(),
      environment_ids: identifiersOf("environment").openapi({ description: ENVIRONMENTS }),
      max_run_seconds: z
        .int()
        .min(0)
        .openapi({ description: RUN_TIME, example: DEFAULT_RUN_SECONDS }),
      created_at: timestampOf("When the pool was created."),
      updated_at: timestampOf("When the pool last changed."),
    })
    .openapi({ description: "A group of runners that deploy the same environments." }),
);

export const RunnerPoolList = envelopeOf(RunnerPool, "RunnerPoolList");
