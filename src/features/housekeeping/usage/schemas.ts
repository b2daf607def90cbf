import { z } from "@hono/zod-openapi";
import { DATABASE_STATUSES } from "../../../lib/database-size.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { identifierOf } from "../../../lib/schemas.ts";
import { SHOWN_HISTORY, type ShownHistory, USAGE_KINDS, type UsageKind } from "./model.ts";

const GB = 1_000_000_000;
const GIGABYTES = {
  warning: LIMITS.databaseWarningBytes.value / GB,
  full: LIMITS.databaseFullBytes.value / GB,
};

const RecordUsage = z
  .object({
    used: z.int().openapi({ description: "The number of resources.", example: 12 }),
    allowed: z.int().optional().openapi({
      description: "The quota. Absent for deployments and others: only their bytes are limited.",
      example: 1_000,
    }),
    bytes: z.int().openapi({ description: "The stored bytes of the resources.", example: 4_096 }),
  })
  .openapi("RecordUsage", {
    description: "How many resources of one kind an organization stores.",
  });

const OTHERS =
  "invitations, sessions, sign-ins, trusts, connections, recoveries, runners and environments of pools, and what " +
  "remains of revoked credentials,";

const records = Object.fromEntries(
  USAGE_KINDS.map((kind) => {
    const description = `The usage of ${kind === "others" ? OTHERS : kind.replaceAll("_", " ")} in the organization.`;
    return [kind, RecordUsage.openapi({ description })];
  }),
) as Record<UsageKind, typeof RecordUsage>;

export const DatabaseSpace = z.enum(DATABASE_STATUSES).openapi("DatabaseSpace", {
  description:
    `How full the database of the service is: \`filling\` from ${GIGABYTES.warning} GB on, and \`full\` from ` +
    `${GIGABYTES.full} GB on, when nobody can add anything.`,
});

const historyKinds = Object.fromEntries(
  SHOWN_HISTORY.map((kind) => {
    const description = `The bytes of the ${kind.replaceAll("_", " ")} that are kept.`;
    return [kind, z.int().openapi({ description, example: 65_536 })];
  }),
) as Record<ShownHistory, z.ZodInt>;

export const Usage = z
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
    records: z.object(records).openapi({ description: "The usage of each kind of resource." }),
    history: z
      .object({
        used: z.int().openapi({
          description: "The bytes of all kinds except the audit log.",
          example: 1_048_576,
        }),
        allowed: z.int().openapi({
          description: "The share in bytes. Beyond it, the oldest history is deleted.",
          example: 536_870_912,
        }),
        by_kind: z.object(historyKinds).openapi({ description: "The bytes of each kind." }),
      })
      .openapi({
        description: "What the organization keeps for a time. Counted at least once an hour.",
      }),
    database: DatabaseSpace,
  })
  .openapi("Usage", { description: "What an organization stores, and what it may store." });
