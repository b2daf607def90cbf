import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { durationOf } from "../../../lib/quantities.ts";
import { identifierOf, timestampOf } from "../../../lib/schemas.ts";
import { RunnerToken } from "../../identity/runner-tokens/schemas.ts";
import { LEASE_TTL_MS } from "../deployments/index.ts";

const State = z.enum(["offered", "running"]).openapi("RunnerPoolAttemptState", {
  description: "`offered` until the runner starts the deployment, then `running`.",
});

const Token = z
  .object({
    id: identifierOf("runnerToken", "The `token_id` in the paths."),
    name: RunnerToken.shape.name,
  })
  .openapi("RunnerTokenReference", { description: "The token that a runner has." });

const RunnerPoolAttempt = z
  .object({
    id: identifierOf("attempt", "The attempt's own ID, which its runner knows, too."),
    deployment_id: identifierOf("deployment", "The deployment that the runner executes."),
    environment_id: identifierOf("environment", "The environment that is deployed."),
    state: State,
    token: Token.optional().openapi({
      description: "With which the runner claimed the deployment. Absent if it was revoked since.",
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
  .openapi("RunnerPoolAttempt", {
    description: "A deployment that a runner of the pool has claimed.",
  });

export const RunnerPoolAttemptList = envelopeOf(RunnerPoolAttempt, "RunnerPoolAttemptList");

const RunnerState = z.enum(["idle", "busy"]).openapi("RunnerState", {
  description: "`busy` while the runner has a deployment, from the offer on.",
});

const RunnerPoolRunner = z
  .object({
    id: identifierOf("runner", "Of the runner's token and name, as long as the pool keeps them."),
    name: z.string().optional().openapi({
      description: "As the runner sends it. Absent if it sends none.",
      example: "builder-1",
    }),
    version: z.string().optional().openapi({
      description: "Of its program, as the runner sends it.",
      example: "1.4.0",
    }),
    token: Token.optional().openapi({
      description: "With which the runner last asked. Absent if it was revoked since.",
    }),
    state: RunnerState,
    deployment_id: identifierOf(
      "deployment",
      "What the runner executes or has been offered: of several, the newest. Absent if it is idle.",
    ).optional(),
    wanted_deployment_id: identifierOf(
      "deployment",
      "The only deployment that the runner asks for, as a CI job does for its own. Absent: any of the pool.",
    ).optional(),
    created_at: timestampOf(
      "When the runner first asked for work, as far as the pool has kept it.",
    ),
    last_seen_at: timestampOf(
      "When the runner last asked for work, up to " +
        `${durationOf(LIMITS.runnerSavedMs.value)} before, or sent a heartbeat.`,
    ),
  })
  .openapi("RunnerPoolRunner", { description: "A runner that is online." });

export const RunnerPoolRunnerList = envelopeOf(RunnerPoolRunner, "RunnerPoolRunnerList");
