import { z } from "@hono/zod-openapi";
import { lazy } from "../../../lib/lazy.ts";
import { component, identifierOf } from "../../../lib/schemas.ts";
import { USAGE_KINDS, type UsageKind } from "./model.ts";

const RecordUsage = component("RecordUsage", () =>
  z
    .object({
      used: z.int().openapi({ description: "The number of resources.", example: 12 }),
      allowed: z.int().optional().openapi({
        description: "The quota. Absent for deployments: only their bytes are limited.",
        example: 1_000,
      }),
      bytes: z.int().openapi({ description: "The stored bytes of the resources.", example: 4_096 }),
    })
    .openapi({ description: "How many resources of one kind an organization stores." }),
);

const records = lazy(
  () =>
    Object.fromEntries(
      USAGE_KINDS.map((kind) => {
        const description = `The usage of ${kind.replaceAll("_", " ")} in the organization.`;
        return [kind, RecordUsage().openapi({ description })];
      }),
    ) as Record<UsageKind, ReturnType<typeof RecordUsage>>,
);

export const Usage = component("Usage", () =>
  z
    .object({
      org_id: identifierOf("organization", "The organization whose resources are counted."),
      bytes: z
        .object({
          used: z.int().openapi({ description: "The stored bytes now.", example: 73_400 }),
          allowed: z.int().openapi({
            description: "The quota in bytes. A write that would exceed it is a `conflict`.",
            example: 1_073_741_824,
          }),
        })
        .openapi({ description: "The stored bytes of the organization in total." }),
      records: z.object(records()).openapi({ description: "The usage of each kind of resource." }),
    })
    .openapi({ description: "What an organization stores, and what it may store." }),
);
