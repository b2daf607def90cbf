import { z } from "@hono/zod-openapi";
import { Identifier } from "../../lib/schemas.ts";
import { USAGE_KINDS, type UsageKind } from "./model.ts";

const RecordUsage = z
  .object({
    used: z.int().openapi({ description: "How many records there are.", example: 12 }),
    allowed: z.int().optional().openapi({
      description: "How many there may be; absent for deployments, which count in bytes alone.",
      example: 1_000,
    }),
    bytes: z.int().openapi({ description: "What they store, in bytes.", example: 4_096 }),
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
      .openapi({ description: "What the organization stores in total." }),
    records: z.object(records).openapi({ description: "By kind." }),
  })
  .openapi("Usage");
