import { authorize } from "../../../actor.ts";
import type { RunnerContext, ServiceContext, SystemContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Page, type PageRequest, toPage } from "../../../db/keyset.ts";
import { NotFound } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import { write } from "../../../writes/write.ts";
import { limitGrowth } from "../../housekeeping/usage/index.ts";
import { findStack, requireStack, type StackRow } from "../../projects/stacks/index.ts";
import type { AlarmReport } from "./model.ts";
import type { AlarmRow } from "./store.ts";
import * as store from "./store.ts";

export async function listAlarms(
  ctx: ServiceContext,
  stackId: string,
  page: PageRequest,
): Promise<Page<AlarmRow>> {
  const { db, actor } = ctx;
  const { stacks, rows } = await batch(db, {
    stacks: findStack(db, actor, stackId),
    rows: store.listAlarms(db, actor.organizationId, stackId, page),
  });
  authorize(actor, "stack", stacks[0], "viewer");
  return toPage(page, rows, (row) => row);
}

/** Writes an event if the state changes. Throws `Conflict` for a new alarm that exceeds the quota. */
export async function reportAlarm(
  ctx: ServiceContext,
  stackId: string,
  report: AlarmReport,
): Promise<AlarmRow> {
  const stack = await requireStack(ctx, stackId, "contributor");
  const alarm = toAlarm(ctx, stack, report);
  const { event, written } = store.writeReport(ctx, alarm);
  return write(ctx, {
    growth: {
      organizationId: stack.organizationId,
      bytes: store.addedBytes(alarm),
      bounds: [store.alarmCountBound(alarm)],
    },
    first: { event },
    guarded: written,
    otherwise: notWritten,
  });
}

/** Throws `Conflict` for a new alarm that exceeds a quota, and never for one that exists. */
export async function reportAlarmAsRunner(
  ctx: RunnerContext,
  stackId: string,
  report: AlarmReport,
): Promise<AlarmRow> {
  const [stack] = await store.findStackOfPool(ctx.db, ctx.runner, stackId);
  if (!stack) throw new NotFound("stack");
  const alarm = toAlarm(ctx, stack, report);
  const limits = limitGrowth(ctx, {
    organizationId: stack.organizationId,
    bytes: store.bytesIfNew(alarm),
    bounds: [store.alarmCountBound(alarm)],
  });
  const statements = { limits: limits.statement, ...store.writeReport(ctx, alarm) };
  const { written } = await limits.enforce(batch(ctx.db, statements));
  const [row] = written;
  if (!row) throw notWritten();
  return row;
}

function toAlarm(
  { clock }: SystemContext,
  stack: Pick<StackRow, "id" | "organizationId" | "projectId" | "environmentId">,
  report: AlarmReport,
): AlarmRow {
  const { id: stackId, organizationId, projectId, environmentId } = stack;
  const owners = { stackId, organizationId, projectId, environmentId };
  const now = clock.now();
  const times = { createdAt: now, changedAt: now, updatedAt: now };
  return { id: newId(clock), ...owners, source: "", ...report, ...times };
}

const notWritten = () => new Error("The batch returned no alarm");
