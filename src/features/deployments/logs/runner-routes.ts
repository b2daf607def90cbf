import { textBody } from "../../../http/bodies.ts";
import type { RunnerEnv } from "../../../http/envs.ts";
import { operation } from "../../../http/operation.ts";
import { createRouter } from "../../../http/router.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { sizeOf } from "../../../lib/quantities.ts";
import {
  AttemptParams,
  DIRECTIVE_HEADER,
  LeaseHeaders,
  toLeaseCredentials,
} from "../runner-api/index.ts";
import { appendToLog } from "./append-service.ts";
import type { Documented } from "./document.ts";
import { AppendQuery } from "./schemas.ts";

const append = operation({
  method: "post",
  path: "/v1/runner/attempts/{attempt_id}/logs",
  operationId: "appendToLog",
  exemptFromBudget: true,
  credentials: ["runner_token"],
  policy: "runner",
  request: () => ({
    params: AttemptParams(),
    headers: LeaseHeaders(),
    query: AppendQuery(),
    body: textBody(
      `At most ${sizeOf(LIMITS.logChunkBytes.value)}, in any encoding. An empty body changes nothing.`,
      "Creating the bucket\n",
    ),
  }),
});

export const logRunnerRoutes = createRouter<Documented, RunnerEnv>().openapi(append, async (c) => {
  const credentials = toLeaseCredentials(c.req.valid("param"), c.req.valid("header"));
  const { offset, stack_id: stackId } = c.req.valid("query");
  const bytes = new Uint8Array(await c.req.arrayBuffer());
  const { nextOffset, directive } = await appendToLog(c.env, credentials, {
    stackId,
    offset,
    bytes,
  });
  return c.json({ next_offset: nextOffset }, 200, { [DIRECTIVE_HEADER]: directive });
});
