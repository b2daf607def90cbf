import { z } from "@hono/zod-openapi";
import { EXAMPLE_REFUSAL } from "../../../lib/example-ids.ts";

export const RefusedSetting = z
  .object({
    name: z.string().openapi({ description: "The setting's name.", example: "LEASE_SECRET" }),
    message: z.string().openapi({
      description: "What is wrong and what to do, for the operator. Never contains the value.",
      example: EXAMPLE_REFUSAL,
    }),
  })
  .openapi("RefusedSetting", { description: "A setting that the service does not run with." });
