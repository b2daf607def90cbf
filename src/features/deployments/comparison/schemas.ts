import { z } from "@hono/zod-openapi";
import { documented } from "#documented";
import { lazy } from "../../../lib/lazy.ts";
import { identifierInput } from "../../../lib/schemas.ts";

export const ComparisonQuery = lazy(() =>
  z.object({
    with: identifierInput("stagingEnvironment").openapi(
      documented(() => ({ description: "The ID of the other environment." })),
    ),
  }),
);
