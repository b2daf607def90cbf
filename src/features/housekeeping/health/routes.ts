import { z } from "@hono/zod-openapi";
import { apiRoute } from "../../../http/api-route.ts";
import { json } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { databaseStatus } from "../../../lib/database-size.ts";
import { ApiError } from "../../../lib/errors.ts";
import { EXAMPLE_REFUSAL, EXAMPLE_REQUEST_ID } from "../../../lib/example-ids.ts";
import { DatabaseSpace } from "../usage/schemas.ts";
import { RefusedSetting } from "./schemas.ts";
import { checkHealth, INCOMPLETE } from "./service.ts";

const Health = z
  .object({
    status: z.literal("ok").openapi({ description: "Every check has passed." }),
    missing_secrets: z.array(z.string()).openapi({
      description: "The secrets that are not set, by name: none, if the service works.",
      example: [],
    }),
    refused_settings: z.array(RefusedSetting).openapi({
      description: "The settings that the service does not run with: none, if it works.",
      example: [],
    }),
    missing_tables: z.array(z.string()).openapi({
      description:
        "The tables that pending migrations create, by name: none, if the service works.",
      example: [],
    }),
    database: DatabaseSpace,
  })
  .openapi("Health", { description: "The state of the service while it works." });

const read = apiRoute({
  method: "get",
  path: "/health",
  operationId: "readHealth",
  tags: ["Service"],
  summary: "Read whether the service works",
  description:
    "Fails with `internal` while a setting is missing or refused, a table is missing, or the " +
    "database does not respond; `cause` states which. While a setting is refused, every other request " +
    "fails with `internal`.",
  access: "public",
  responses: { 200: json(Health, "The service works.") },
  errors: {
    unhealthy: new ApiError("internal", INCOMPLETE, {
      cause: {
        request_id: EXAMPLE_REQUEST_ID,
        missing_secrets: ["LEASE_SECRET"],
        refused_settings: [
          {
            name: "LEASE_SECRET",
            message: EXAMPLE_REFUSAL,
          },
        ],
        missing_tables: [],
        database: "ok",
      },
    }),
  },
});

const HEALTHY = {
  status: "ok" as const,
  missing_secrets: [],
  refused_settings: [],
  missing_tables: [],
};

export const healthRoutes = createRouter().openapi(read, async (c) => {
  const { ctx } = c.var;
  const tables = ctx.ownership.tableNames();
  await checkHealth(ctx.db, { ...ctx.installation.problems(c.req.url), tables });
  return c.json({ ...HEALTHY, database: databaseStatus() }, 200);
});
