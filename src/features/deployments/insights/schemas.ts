import { z } from "@hono/zod-openapi";
import { documented } from "#documented";
import { ListQuery } from "../../../http/pagination.ts";
import { lazy } from "../../../lib/lazy.ts";
import { LIMITS } from "../../../lib/limits.ts";

const DEFAULT_DAYS = 30;
const MAXIMUM_DAYS = LIMITS.insightDays.value;
const MESSAGE = `Send a whole number from 1 to ${MAXIMUM_DAYS}.`;

export const InsightsQuery = lazy(() =>
  ListQuery().extend({
    days: z
      .string()
      .regex(/^\d{1,3}$/, MESSAGE)
      .transform(Number)
      .refine((days) => days >= 1 && days <= MAXIMUM_DAYS, MESSAGE)
      .default(DEFAULT_DAYS)
      .openapi(
        documented(() => ({
          type: "integer",
          format: "int64",
          minimum: 1,
          maximum: MAXIMUM_DAYS,
          default: DEFAULT_DAYS,
          description: "How many days (UTC), today included.",
        })),
      ),
  }),
);
