import { z } from "@hono/zod-openapi";
import { EXAMPLE_IDS } from "../../../lib/example-ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { durationOf } from "../../../lib/quantities.ts";
import { identifierOf, timestampOf } from "../../../lib/schemas.ts";
import { CONDITION_CODES } from "./model.ts";

const WaitingPool = z
  .object({
    id: identifierOf("runnerPool", "The runner pool."),
    name: z.string().openapi({ description: "As the organization calls it.", example: "eu" }),
    online: z.boolean().openapi({
      description: `Whether one of its runners has asked for work in the last ${durationOf(LIMITS.runnerOnlineMs.value)}, or executes a deployment. Runners that ask for one deployment alone do not count for others.`,
    }),
    last_asked_at: timestampOf(
      "When one of its runners last asked for work, up to " +
        `${durationOf(LIMITS.runnerSavedMs.value)} before. Absent if the pool keeps none that has.`,
    ).optional(),
  })
  .openapi("WaitingPool", {
    description: "A runner pool that includes the environment of a queued deployment.",
  });

const WaitingCode = z
  .enum([...CONDITION_CODES, "deployment", "pool", "runner"])
  .openapi("WaitingCode", {
    description:
      "`approvals`: people have to approve it, by a rule of the environment. `from`: the same has to succeed in another " +
      "environment first. `sources`: only keys that a trust has given for other sources may deploy. `window`: deployments " +
      "start at other times. `freeze`: nothing starts meanwhile. `group`: another deployment of the group is running. " +
      "`deployment`: another one is active or queued before it in the environment. `pool`: no runner pool of " +
      "the organization includes the environment. `runner`: a runner has to ask for work. Later releases add codes.",
  });

export const Waiting = z
  .object({
    code: WaitingCode,
    message: z.string().openapi({
      description: "The reason, for people.",
      example: 'No runner of the pool "eu" has asked for work in the last 5 minutes: start one.',
    }),
    opens_at: timestampOf(
      "When it may be met. Absent if that does not depend on the time alone.",
    ).optional(),
    expires_at: timestampOf(
      "For `approvals`: when the deployment ends `canceled` with `approval_expired`, unless it has them before.",
    ).optional(),
    deployment_id: identifierOf(
      "deployment",
      "For `group`: the running one. For `deployment`: the one that is active, or else the first of those that are queued before it.",
    ).optional(),
    pools: z
      .array(WaitingPool)
      .optional()
      .openapi({
        description: `For \`runner\`: the pools that include the environment, at most ${LIMITS.waitingPools.value}, those that asked last first.`,
      }),
  })
  .openapi("WaitingReason", {
    description: "Why a deployment has not started.",
    example: {
      code: "deployment",
      message: `It starts after the deployment ${EXAMPLE_IDS.deployment} of its environment has ended.`,
      deployment_id: EXAMPLE_IDS.deployment,
    },
  });
