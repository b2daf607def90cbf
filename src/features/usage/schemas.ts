import { z } from "@hono/zod-openapi";
import { Identifier } from "../../lib/schemas.ts";
import { USAGE_KINDS, type UsageKind } from "./model.ts";

const RecordUsage = z
  .object({
    used: z.int().openapi({ description: "The number of records.", example: 12 }),
    allowed: z.int().optional().openapi({
      description: "The quota. Absent for deployments: only their bytes are limited.",
      example: 1_000,
    }),
    bytes: z.int().openapi({ description: "The stored bytes of the records.", example: 4_096 }),
  })
  .openapi("RecordUsage");

const records = Object.fromEntries(USAGE_KINDS.map((kind) => [kind, RecordUsage])) as Record<
  UsageKind,
  typeof RecordUsage
>;

export const Usage = z
  .object({
    org_id: Identifier,
    bytes: z
      .object({
        used: z.int().openapi({ description: "In bytes.", example: 73_400 }),
        allowed: z.int().openapi({ description: "In bytes.", example: 1_073_741_824 }),
      })
      .openapi({ description: "The stored bytes of the organization in total." }),
    records: z.object(records).openapi({ description: "The usage of each kind of record." }),
  })
  .openapi("Usage");
