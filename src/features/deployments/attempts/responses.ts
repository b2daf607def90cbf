import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { durationOf } from "../../../lib/quantities.ts";
import { component, identifierOf, timestampOf } from "../../../lib/schemas.ts";
import { RunnerToken } from "../../identity/runner-tokens/responses.ts";
import { LEASE_TTL_MS } from "../deployments/index.ts";

const State = component("RunnerPoolAttemptState", () =>
  z.enum(["offered", "running"]).openapi({
    description: "`offered` until the runner starts the deployment, then `running`.",
  }),
);

const Token = component("RunnerTokenReference", () =>
  z
    .object({
      id: identifierOf("runnerToken", "The `token_id` in the paths."),
      name: RunnerToken().shape.name,
    })
    .openapi({ description: "The token that a runner has." }),
);

const RunnerPoolAttempt = component("RunnerPoolAttempt", () =>
  z
    .object({
      id: identifierOf("attempt", "The attempt's own ID, which its runner knows, too."),
      deployment_id: identifierOf("deployment", "The deployment that the runner executes."),
      environment_id: identifierOf("environment", "The environment that is deployed."),
      state: State(),
      token: Token().optional().openapi({
        description:
          "With which the runner claimed the deployment. Absent if it was revoked since.",
      }),
      created_at: timestampOf("When the deployment was offered to the runner."),
      offered_until: timestampOf(
        "The offer lapses at this time. Absent once the attempt is running.",
      ).optional(),
      started_at: timestampOf("When the runner started. Absent before.").optional(),
      last_heartbeat_at: timestampOf(
        "When the runner last started the attempt or sent a heartbeat. After " +
          `${durationOf(LEASE_TTL_MS)} without one, the attempt is stale. Absent before the start.`,
      ).optional(),
      run_until: timestampOf(
        "When `max_run_seconds` of the pool end, and the runner has to cancel. Absent before the start.",
      ).optional(),
    })
    .openapi({ description: "A deployment that a runner of the pool has claimed." }),
);

export const RunnerPoolAttemptList = envelopeOf(RunnerPoolAttempt, "RunnerPoolAttemptList");
