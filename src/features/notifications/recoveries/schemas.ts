import { z } from "@hono/zod-openapi";
import { documented } from "#documented";
import { idParam } from "../../../http/params.ts";
import { lazy } from "../../../lib/lazy.ts";
import { component, timestampInput } from "../../../lib/schemas.ts";
import { IntegrationParams } from "../integrations/index.ts";
import { MAXIMUM_AGE } from "./model.ts";

export const CreateRecovery = component("CreateRecovery", () =>
  z
    .strictObject({
      since: timestampInput().openapi(
        documented(() => ({
          format: "date-time",
          description: `The start of the period, at most ${MAXIMUM_AGE} ago.`,
        })),
      ),
      until: timestampInput()
        .optional()
        .openapi(
          documented(() => ({
            format: "date-time",
            description:
              "The end of the period, which it does not include. Absent, or a later time: now.",
          })),
        ),
    })
    .openapi(
      documented(() => ({
        description: "The period of the failed deliveries.",
        example: { since: "2026-11-21T09:30:00.000Z", until: "2026-11-21T11:00:00.000Z" },
      })),
    ),
);

export const RecoveryParams = lazy(() =>
  IntegrationParams().extend(idParam("recovery_id", "recovery", "recovery")),
);
