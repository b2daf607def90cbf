import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonOrTextReply, jsonReply } from "../../../document/replies.ts";
import { EVENT_STREAM, PLAIN_TEXT } from "../../../http/media-types.ts";
import { BadInput, Conflict } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { durationOf } from "../../../lib/quantities.ts";
import { LeaseLost, NOT_STARTED } from "../runner-api/index.ts";
import { AppendedLog, LogPage } from "./responses.ts";

const operations = {
  readLog: {
    tags: ["Logs"],
    summary: "Read or follow the log of a deployment",
    role: "viewer",
    description:
      "Returns what the runner's command has printed, live or finished, in the form that `Accept` asks " +
      `for. JSON: a page of lines. \`${PLAIN_TEXT}\`: all bytes that the log has now, as printed. ` +
      `\`${EVENT_STREAM}\`: lines as they arrive, with the offset after each as ID, \`status\` when the ` +
      "deployment or a stack has another status, and `end` with the final status. A stream ends after " +
      `${durationOf(LIMITS.logStreamMs.value)}; \`Last-Event-ID\` continues it at the byte. It counts as one request.`,
    notFound: ["deployment", "stack in the deployment"],
    errors: {
      offset_beyond_end: new BadInput([
        { path: "after", message: "This log has 4096 bytes. Send at most that offset." },
      ]),
    },
    responses: {
      200: jsonOrTextReply(
        LogPage(),
        {
          [PLAIN_TEXT]: "The bytes as printed. They can have escape sequences for terminals.",
          [EVENT_STREAM]: "Server-sent events; each line is a `LogLine`.",
        },
        "The log.",
      ),
    },
  },
  appendToLog: {
    tags: ["Logs"],
    summary: "Append to the log of an attempt",
    description:
      "Stores bytes that the command has printed. Bytes that the log already has are ignored, so a " +
      "request may be repeated. Mask secrets before you send them. After `complete`, the missing bytes " +
      `of a declared log are accepted for ${durationOf(LIMITS.logSealsMs.value)}. A refusal must not change the outcome of the ` +
      "deployment.",
    notFound: ["attempt", "stack in the deployment"],
    errors: {
      log_ended: new LeaseLost(),
      attempt_not_started: new Conflict(NOT_STARTED),
      log_gap: new Conflict("Bytes before the offset are missing. Send them from 4096 on.", {
        cause: { next_offset: 4_096 },
      }),
    },
    responses: { 200: jsonReply(AppendedLog(), "How far the log goes.") },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

const tags = [
  { name: "Logs", description: "What the commands of runners print, live and stored." },
];

export const document: FeatureDocument = { tags, operations };
