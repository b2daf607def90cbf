import type { RunnerContext, ServiceContext, SystemContext } from "../../context.ts";
import { type Page, type PageRequest, toPage } from "../../db/keyset.ts";
import { NotFound } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { commit } from "../events/index.ts";
import { authorize } from "../projects/index.ts";
import { findStack, requireStack, type StackRow } from "../stacks/index.ts";
import type { AlarmRow } from "./store.ts";
import * as store from "./store.ts";

export type AlarmReport = Pick<AlarmRow, "name" | "state" | "reason">;

/** The alarms of a stack; takes a viewer. */
export async function listAlarms(
  ctx: ServiceContext,
  stackId: string,
  page: PageRequest,
): Promise<Page<AlarmRow>> {
  const { db, actor } = ctx;
  const [[stack], found] = await db.batch([
    findStack(db, actor, stackId),
    store.listAlarms(db, actor.organizationId, stackId, page),
  ]);
  authorize(actor, "stack", stack, "viewer");
  return toPage(page, found, (row) => row);
}

/** Notes the state of an alarm, and tells of it if it has changed; takes a contributor. */
export async function reportAlarm(
  ctx: ServiceContext,
  stackId: string,
  report: AlarmReport,
): Promise<AlarmRow> {
  return writeReport(ctx, await requireStack(ctx, stackId, "contributor"), report);
}

/** The same, for a runner whose pool has the stack's environment. */
export async function reportAlarmAsRunner(
  ctx: RunnerContext,
  stackId: string,
  report: AlarmReport,
): Promise<AlarmRow> {
  const [stack] = await store.findStackOfPool(ctx.db, ctx.runner, stackId);
  if (!stack) throw new NotFound("stack");
  return writeReport(ctx, stack, report);
}

async function writeReport(
  ctx: SystemContext,
  { id: stackId, organizationId, projectId }: Pick<StackRow, "id" | "organizationId" | "projectId">,
  report: AlarmReport,
): Promise<AlarmRow> {
  const now = ctx.clock.now();
  const alarm = {
    id: newId(ctx.clock),
    stackId,
    organizationId,
    projectId,
    ...report,
    createdAt: now,
    changedAt: now,
    updatedAt: now,
  };
  const [, [written]] = await commit(ctx, [
    store.announceChange(ctx, alarm),
    store.writeAlarm(ctx.db, alarm),
  ]);
  if (!written) throw new Error("The written alarm did not come back");
  return written;
}
