import { operation } from "../../http/operation.ts";
import { jsonReply, textBody } from "../../http/replies.ts";
import { createRouter, type RunnerEnv } from "../../http/router.ts";
import { Conflict } from "../../lib/errors.ts";
import { LIMITS } from "../../lib/limits.ts";
import {
  AttemptParams,
  DIRECTIVE_HEADER,
  LeaseHeaders,
  toLeaseCredentials,
} from "../runner-api/index.ts";
import { appendToLog } from "./append-service.ts";
import { AppendedLog, AppendQuery } from "./schemas.ts";

const append = operation({
  method: "post",
  path: "/v1/runner/attempts/{attempt_id}/logs",
  operationId: "appendToLog",
  tags: ["Logs"],
  summary: "Append to the log of an attempt",
  description:
    "Stores bytes that the command has printed. Bytes that the log already has are ignored, so a " +
    "request may be repeated. Mask secrets before you send them. After `complete`, the missing bytes " +
    "of a declared log are accepted for ten minutes. A refusal must not change the outcome of the " +
    "deployment.",
  credentials: ["runner_token"],
  policy: "runner",
  notFound: ["attempt", "stack in the deployment"],
  errors: {
    log_ended: new Conflict(
      "The attempt has ended, or the lease token is of another attempt. Stop.",
    ),
    attempt_not_started: new Conflict("Start the attempt first."),
    log_gap: new Conflict("Bytes before the offset are missing. Send them from 4096 on.", {
      cause: { next_offset: 4_096 },
    }),
  },
  request: {
    params: AttemptParams(),
    headers: LeaseHeaders(),
    query: AppendQuery(),
    body: textBody(
      `At most ${LIMITS.logChunkBytes.value / 1024} KiB, in any encoding. An empty body changes nothing.`,
      "Creating the bucket\n",
    ),
  },
  responses: { 200: jsonReply(AppendedLog(), "How far the log goes.") },
});

export const logRunnerRoutes = createRouter<RunnerEnv>().openapi(append, async (c) => {
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
