import { z } from "@hono/zod-openapi";
import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import {
  EXAMPLE_REFUSAL,
  EXAMPLE_REQUEST_ID,
  jsonReply,
  RefusedSetting,
} from "../../../document/replies.ts";
import { ApiError } from "../../../lib/errors.ts";
import { component } from "../../../lib/schemas.ts";
import { DatabaseSpace } from "../usage/responses.ts";
import { INCOMPLETE } from "./service.ts";

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
      database: DatabaseSpace(),
    })
    .openapi({ description: "The state of the service while it works." }),
);

const operations = {
  readHealth: {
    tags: ["Service"],
    summary: "Read whether the service works",
    description:
      "Fails with `internal` while a setting is missing or refused, a table is missing, or the " +
      "database does not respond; `cause` states which. While a setting is refused, every other request " +
      "fails with `internal`.",
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
    responses: { 200: jsonReply(Health(), "The service works.") },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

const tags = [{ name: "Service", description: "Set-up, health, and this reference." }];

export const document: FeatureDocument = { tags, operations };
