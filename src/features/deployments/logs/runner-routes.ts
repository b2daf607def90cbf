import { apiRoute } from "../../../http/api-route.ts";
import { textBody } from "../../../http/bodies.ts";
import { json } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { Conflict } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { durationOf, sizeOf } from "../../../lib/quantities.ts";
import {
  DIRECTIVE_HEADER,
  LeaseLost,
  NOT_STARTED,
  toLeaseCredentials,
} from "../runner-api/index.ts";
import { AttemptParams, LeaseHeaders } from "../runner-api/schemas.ts";
import { appendToLog } from "./append-service.ts";
import { AppendedLog, AppendQuery } from "./schemas.ts";

const append = apiRoute({
  method: "post",
  path: "/v1/runner/attempts/{attempt_id}/logs",
  operationId: "appendToLog",
  tags: ["Logs"],
  summary: "Append to the log of an attempt",
  description:
    "Stores bytes that the command has printed. Bytes that the log already has are ignored, so a " +
    "request may be repeated. Mask secrets before you send them. After `complete`, the missing bytes " +
    `of a declared log are accepted for ${durationOf(LIMITS.logSealsMs.value)}. A refusal must not change the outcome of the ` +
    "deployment.",
  access: "runner",
  policy: "runner",
  exemptFromBudget: true,
  request: {
    params: AttemptParams,
    headers: LeaseHeaders,
    query: AppendQuery,
    body: textBody(
      `At most ${sizeOf(LIMITS.logChunkBytes.value)}, in any encoding. An empty body changes nothing.`,
      "Creating the bucket\n",
    ),
  },
  responses: { 200: json(AppendedLog, "How far the log goes.") },
  notFound: ["attempt", "stack in the deployment"],
  errors: {
    log_ended: new LeaseLost(),
    attempt_not_started: new Conflict(NOT_STARTED),
    log_gap: new Conflict("Bytes before the offset are missing. Send them from 4096 on.", {
      cause: { next_offset: 4_096 },
    }),
  },
});

export const logRunnerRoutes = createRouter().openapi(append, async (c) => {
  const credentials = toLeaseCredentials(c.req.valid("param"), c.req.valid("header"));
  const { offset, stack_id: stackId } = c.req.valid("query");
  const bytes = new Uint8Array(await c.req.arrayBuffer());
  const { nextOffset, directive } = await c.var.run((ctx) =>
    appendToLog(ctx, credentials, {
      stackId,
      offset,
      bytes,
    }),
  );
  return c.json({ next_offset: nextOffset }, 200, { [DIRECTIVE_HEADER]: directive });
});
