import { z } from "@hono/zod-openapi";
import type { SystemContext } from "../../context.ts";
import { operation } from "../../http/operation.ts";
import { jsonReply, RefusedSetting } from "../../http/replies.ts";
import { createRouter, type PublicEnv } from "../../http/router.ts";
import { ApiError } from "../../lib/errors.ts";
import { component } from "../../lib/schemas.ts";
import { findRefusedSettings, REQUIRED_SECRETS } from "../../lib/settings.ts";
import { checkHealth } from "./service.ts";

/** Open also while the settings are refused. */
export const HEALTH_PATH = "/health";

const Health = component("Health", () =>
  z
    .object({
      status: z.literal("ok").openapi({ description: "Every check has passed." }),
      missing_secrets: z.array(z.string()).openapi({
        description: "The secrets that are not set, by name: none, if the service works.",
        example: [],
      }),
      refused_settings: z.array(RefusedSetting()).openapi({
        description: "The settings that the service does not run with: none, if it works.",
        example: [],
      }),
      missing_tables: z.array(z.string()).openapi({
        description:
          "The tables that pending migrations create, by name: none, if the service works.",
        example: [],
      }),
      database: z.literal("ok").openapi({ description: "Whether the database responds." }),
    })
    .openapi({ description: "The state of the service while it works." }),
);

const read = operation({
  method: "get",
  path: HEALTH_PATH,
  operationId: "readHealth",
  tags: ["Service"],
  summary: "Read whether the service works",
  description:
    "Fails with `internal` while a setting is missing or refused, a table is missing, or the " +
    "database does not respond; `cause` states which. While a setting is refused, every other request " +
    "fails with `internal`.",
  credentials: [],
  errors: {
    unhealthy: new ApiError("internal", "The deployment is incomplete; see cause.", {
      cause: {
        request_id: "5f0c8a52-6f0e-4a53-9d0f-3f8e0f6d2b17",
        missing_secrets: ["LEASE_SECRET"],
        refused_settings: [
          {
            name: "LEASE_SECRET",
            message: "It is not set. Set it to the output of `openssl rand -hex 32`.",
          },
        ],
        missing_tables: [],
        database: "ok",
      },
    }),
  },
  responses: { 200: jsonReply(Health(), "The service works.") },
});

const HEALTHY = {
  status: "ok" as const,
  missing_secrets: [],
  refused_settings: [],
  missing_tables: [],
  database: "ok" as const,
};

export function healthRoutes(
  createContext: (
    env: Env,
    execution: Pick<ExecutionContext, "waitUntil">,
  ) => Pick<SystemContext, "ownership">,
) {
  return createRouter<PublicEnv>().openapi(read, async (c) => {
    const { ownership } = createContext(c.env, c.executionCtx);
    await checkHealth(c.env.DB, {
      missingSecrets: REQUIRED_SECRETS.filter((name) => !c.env[name]),
      refusedSettings: findRefusedSettings(c.env, c.req.url),
      tables: ownership.tableNames(),
    });
    return c.json(HEALTHY, 200);
  });
}
