import { z } from "@hono/zod-openapi";
import { envelopeOf, ListQuery } from "../../../http/pagination.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { identifierOf } from "../../../lib/schemas.ts";
import { Environment } from "../../projects/environments/schemas.ts";

const DEFAULT_DAYS = 30;
const MAXIMUM_DAYS = LIMITS.insightDays.value;
const MESSAGE = `Send a whole number from 1 to ${MAXIMUM_DAYS}.`;

export const InsightsQuery = ListQuery.extend({
  days: z
    .string()
    .regex(/^\d{1,3}$/, MESSAGE)
    .transform(Number)
    .refine((days) => days >= 1 && days <= MAXIMUM_DAYS, MESSAGE)
    .default(DEFAULT_DAYS)
    .openapi({
      type: "integer",
      format: "int64",
      minimum: 1,
      maximum: MAXIMUM_DAYS,
      default: DEFAULT_DAYS,
      description: "How many days (UTC), today included.",
    }),
});

const countOf = (what: string) =>
  z
    .number()
    .int()
    .openapi({ description: `${what} that day.`, example: 3 });

const secondsOf = (description: string) =>
  z
    .int()
    .min(0)
    .openapi({ description: `${description} In seconds.`, example: 45 });

const Durations = z
  .object({
    median: secondsOf("Half of them took no longer."),
    p95: secondsOf("95 % of them took no longer."),
  })
  .openapi("DeploymentDurations", {
    description: "How long the deployments of a day took that had started.",
  });

const DayInsights = z
  .object({
    date: z.string().openapi({
      description: "The day (UTC).",
      format: "date",
      example: "2026-11-21",
    }),
    succeeded: countOf("Deployments that succeeded"),
    failed: countOf("Deployments that failed"),
    canceled: countOf("Deployments that were canceled"),
    superseded: countOf("Deployments that were superseded"),
    failure_rate: z.number().optional().openapi({
      description:
        "The share of those that failed, of those that succeeded or failed, from 0 to 1. Absent if there are none.",
      example: 0.25,
    }),
    queued_seconds: Durations.optional().openapi({
      description: "From their creation to their start. Absent if none had started.",
    }),
    run_seconds: Durations.optional().openapi({
      description: "From their start to their end. Absent if none had started.",
    }),
    recoveries: countOf("Successes after a failure in the environment"),
    recovery_seconds: secondsOf(
      "The mean time of the recoveries, from the end of the first deployment that failed. Absent if there are none.",
    ).optional(),
  })
  .openapi("DayInsights", {
    description: "The deployments of an environment that ended on a day.",
  });

const EnvironmentInsights = z
  .object({
    id: identifierOf("environment", "The `environment_id` in the paths."),
    name: Environment.shape.name,
    position: Environment.shape.position,
    days: z.array(DayInsights).openapi({
      description: "The days on which deployments ended, the earliest first.",
    }),
    created_at: Environment.shape.created_at,
  })
  .openapi("EnvironmentInsights", {
    description: "How the deployments of an environment ended, by day.",
  });

export const EnvironmentInsightsList = envelopeOf(EnvironmentInsights, "EnvironmentInsightsList");
