import { authorize } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { requireExpectedVersion } from "../../../db/expected-version.ts";
import { bytesOf } from "../../../lib/bytes-of.ts";
import { BadInput, NotFound } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import type { ProjectRole } from "../../../lib/roles.ts";
import { write } from "../../../writes/write.ts";
import type { Change } from "../../housekeeping/changelog/index.ts";
import { listMembers, requireRuleAuthority } from "../../projects/access/index.ts";
import { type FoundEnvironment, findEnvironment } from "../../projects/environments/index.ts";
import { evaluateQueued } from "../deployments/index.ts";
import { membersIn, type ProtectionInput, personsIn, toRules, trustsIn } from "./model.ts";
import { presentProtection, presentRules } from "./presenters.ts";
import type { ProtectionRow } from "./store.ts";
import * as store from "./store.ts";

interface Loaded {
  environment: FoundEnvironment;
  row: ProtectionRow;
}

export async function getProtection(ctx: ServiceContext, id: string): Promise<ProtectionRow> {
  return (await load(ctx, id, "viewer")).row;
}

/** Queued deployments keep the earlier rules, too. */
export async function replaceProtection(
  ctx: ServiceContext,
  id: string,
  input: ProtectionInput,
): Promise<ProtectionRow> {
  const { environment, row } = await requireExpected(ctx, id);
  const { organizationId, projectId } = environment;
  await requireMembers(ctx, input);
  await requireEnvironments(ctx, environment, input);
  await requireTrusts(ctx, input);
  const rules = JSON.stringify(toRules(input) ?? {});
  const now = ctx.clock.now();
  const times = { createdAt: now, updatedAt: now };
  const written = {
    id: newId(ctx.clock),
    environmentId: id,
    organizationId,
    projectId,
    rules,
    ...times,
    version: 1,
  };
  return write(ctx, {
    growth: {
      organizationId,
      ...store.growthOf(id, bytesOf(rules) - bytesOf(row.rules ?? "")),
    },
    guarded: store.replaceProtection(ctx, written),
    changes: [changeOf(environment, row.rules, rules)],
    unchanged: row,
    reread: () => requireExpected(ctx, id),
    otherwise: () => new NotFound("environment"),
    committed: () => evaluateQueued(ctx, { environment: id }),
  });
}

async function load(ctx: ServiceContext, id: string, needed: ProjectRole): Promise<Loaded> {
  const { db, actor } = ctx;
  const { environments, rows } = await batch(db, {
    environments: findEnvironment(db, actor, id),
    rows: store.findProtection(db, actor.organizationId, id),
  });
  const environment = authorize(actor, "environment", environments[0], needed);
  const [row] = rows;
  if (!row) throw new NotFound("environment");
  return { environment, row };
}

async function requireExpected(ctx: ServiceContext, id: string): Promise<Loaded> {
  const loaded = await load(ctx, id, "owner");
  await requireRuleAuthority(ctx, loaded.environment);
  const { row } = loaded;
  await requireExpectedVersion(ctx, row.version, () => presentProtection(row, ctx));
  return loaded;
}

/** All exist, and those who approve are people. */
async function requireMembers(ctx: ServiceContext, input: ProtectionInput): Promise<void> {
  const ids = membersIn(input);
  if (ids.length === 0) return;
  const rows = await listMembers(ctx.db, ctx.actor.organizationId, ids);
  if (rows.length < ids.length) throw new NotFound("membership");
  const isPerson = new Set(rows.filter(({ kind }) => kind === "person").map(({ id }) => id));
  const issues = personsIn(input).flatMap((id, at) =>
    isPerson.has(id)
      ? []
      : [
          {
            path: `approvals.approvers.membership_ids.${at}`,
            message: "Send a person: programs approve nothing.",
          },
        ],
  );
  if (issues.length > 0) throw new BadInput(issues);
}

/** Others of the same project. */
async function requireEnvironments(
  ctx: ServiceContext,
  environment: FoundEnvironment,
  { from }: ProtectionInput,
): Promise<void> {
  if (!from) return;
  const ids = new Set(from.environment_ids);
  const rows = await store.listOthers(ctx.db, environment, [...ids]);
  if (rows.length < ids.size) throw new NotFound("other environment in the project");
}

async function requireTrusts(ctx: ServiceContext, input: ProtectionInput): Promise<void> {
  const ids = trustsIn(input);
  if (ids.length === 0) return;
  const rows = await store.listTrusts(ctx.db, ctx.actor.organizationId, ids);
  if (rows.length < ids.length) throw new NotFound("trust");
}

function changeOf(
  { projectId, id, name }: FoundEnvironment,
  before: string | null,
  after: string,
): Change<"updated"> {
  return {
    projectId,
    action: "updated",
    record: { type: "environment", id, name },
    before: { protection: presentRules(before) },
    after: { protection: presentRules(after) },
    auditedAs: "environment.protection_changed",
  };
}
