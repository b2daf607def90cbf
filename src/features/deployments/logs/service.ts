import { authorize, requireScope } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { BadInput, NotFound } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { describeError } from "../../../lib/log.ts";
import { toStream } from "../../../lib/stream.ts";
import { callLog } from "./client.ts";
import { LogConnection } from "./connection.ts";
import { followLog, type LogEvent } from "./follow.ts";
import type { LogContent, LogSize } from "./messages.ts";
import { OpenStreams } from "./open-streams.ts";
import { type LogPage, toLinePage } from "./page.ts";
import { presentEvent } from "./presenters.ts";
import { logStatusOf, type Run } from "./run.ts";
import { toRun } from "./run-row.ts";
import { findRunOf } from "./store.ts";

export const SCOPE = "deployments:read";
const READ_BYTES = 64 * 1024;
const CHANGE_MS = 5_000;
const MAXIMUM_WAITS = 3;
const openStreams = new OpenStreams();

export interface LogQuery {
  /** The offset of the first byte. */
  after: number;
  /** Undefined: all. */
  stackId: string | undefined;
}

export async function readLogPage(
  ctx: ServiceContext,
  deploymentId: string,
  query: LogQuery,
): Promise<LogPage> {
  const run = await requireRun(ctx, deploymentId, query);
  const content = await readLog(ctx, deploymentId, query, LIMITS.logPageBytes.value);
  requireOffset("after", query.after, content.log);
  return {
    ...toLinePage(content),
    status: logStatusOf(run, content.log),
    isTruncated: content.log?.isTruncated === true,
  };
}

/** The bytes that the log has now. */
export async function downloadLog(
  ctx: ServiceContext,
  deploymentId: string,
  query: LogQuery,
): Promise<ReadableStream<Uint8Array>> {
  await requireRun(ctx, deploymentId, query);
  const first = await readLog(ctx, deploymentId, query, READ_BYTES);
  requireOffset("after", query.after, first.log);
  const readNext = (after: number) => readLog(ctx, deploymentId, { ...query, after }, READ_BYTES);
  return toStream(logBytes(first, readNext), { onError: logBreak(ctx, deploymentId) });
}

/** Server-sent events until the deployment and its log have ended. */
export async function streamLog(
  ctx: ServiceContext,
  deploymentId: string,
  query: LogQuery & { lastEventId: number | undefined },
): Promise<ReadableStream<Uint8Array>> {
  await requireRun(ctx, deploymentId, query);
  const after = query.lastEventId ?? query.after;
  const release = openStreams.open(ctx.actor.keyId);
  let connection: LogConnection | undefined;
  const end = () => {
    connection?.close();
    release();
  };
  try {
    connection = await LogConnection.open(ctx, deploymentId);
    const name = query.lastEventId === undefined ? "after" : "Last-Event-ID";
    requireOffset(name, after, connection.latest.log);
    await refreshUntilRunIsKnown(ctx, deploymentId, connection);
    const events = followLog({
      after,
      connection,
      read: (position) => readLog(ctx, deploymentId, { ...query, after: position }, READ_BYTES),
      isAuthorized: () => isStillAuthorized(ctx, deploymentId, query),
      now: () => ctx.movingClock.now(),
    });
    return toStream(toTexts(events), { onError: logBreak(ctx, deploymentId), onEnd: end });
  } catch (error) {
    end();
    throw error;
  }
}

/** The log reads the deployment from the primary, once for all followers: a replica may be behind. */
async function refreshUntilRunIsKnown(
  ctx: ServiceContext,
  deploymentId: string,
  connection: LogConnection,
): Promise<void> {
  if (!connection.latest.run) await callLog(ctx, deploymentId, (log) => log.refresh(deploymentId));
  // A notification from before the refresh may still arrive first.
  for (let waits = 0; !connection.latest.run && waits < MAXIMUM_WAITS; waits += 1) {
    await connection.waitForChange(CHANGE_MS);
  }
}

async function* toTexts(events: AsyncGenerator<LogEvent>): AsyncGenerator<string> {
  for await (const event of events) yield presentEvent(event);
}

async function* logBytes(
  first: LogContent,
  readNext: (after: number) => Promise<LogContent>,
): AsyncGenerator<Uint8Array> {
  const end = first.log?.size ?? 0;
  for (let content = first; ; content = await readNext(content.nextOffset)) {
    if (!content.log && end > 0) throw new Error("The log has been deleted");
    for (const { offset, bytes } of content.chunks) {
      if (offset < end) yield bytes.subarray(0, end - offset);
    }
    if (content.nextOffset >= end) return;
  }
}

/** @throws NotFound if the deployment, or its stack, is not the actor's to know. */
async function requireRun(
  ctx: Pick<ServiceContext, "db" | "actor">,
  deploymentId: string,
  { stackId }: LogQuery,
): Promise<Run> {
  const [found] = await findRunOf(ctx.db, ctx.actor, deploymentId);
  const run = toRun(authorize(ctx.actor, "deployment", found, "viewer"));
  const isKnown = stackId === undefined || run.stacks.some(({ id }) => id === stackId);
  if (!isKnown) throw new NotFound("stack in the deployment");
  return run;
}

function readLog(
  ctx: ServiceContext,
  deploymentId: string,
  { after, stackId }: LogQuery,
  maximumBytes: number,
): Promise<LogContent> {
  return callLog(ctx, deploymentId, (stub) => stub.read(after, maximumBytes, stackId));
}

/** @throws BadInput for an offset beyond the end: it is of another log. */
function requireOffset(path: string, offset: number, log: LogSize | undefined): void {
  const size = log?.size ?? 0;
  if (offset <= size) return;
  throw new BadInput([{ path, message: `This log has ${size} bytes. Send at most that offset.` }]);
}

/** Any doubt ends the stream: the client continues with a new request, which is authenticated. */
async function isStillAuthorized(
  ctx: ServiceContext,
  deploymentId: string,
  query: LogQuery,
): Promise<boolean> {
  const actor = await ctx.refreshActor();
  if (!actor || actor === ctx.actor) return actor !== undefined;
  try {
    requireScope(actor, SCOPE);
    await requireRun({ db: ctx.db, actor }, deploymentId, query);
    return true;
  } catch {
    return false;
  }
}

function logBreak(ctx: ServiceContext, deploymentId: string): (error: unknown) => void {
  const fields = { request_id: ctx.origin.requestId, deployment_id: deploymentId };
  return (error) =>
    ctx.log("error", "log.stream_broke_off", { ...fields, ...describeError(error) });
}
