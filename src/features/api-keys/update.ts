import type { ChangedKey, ServiceContext } from "../../context.ts";
import { batch } from "../../db/batch.ts";
import { BadInput, Conflict, NotFound } from "../../lib/errors.ts";
import { type AuditedAct, recordActs } from "../audit/index.ts";
import { recordRow } from "../idempotency/index.ts";
import { LAST_OWNER_KEY } from "../memberships/index.ts";
import { bytesOf, limitGrowth } from "../usage/index.ts";
import { requireAccessOf } from "./authority.ts";
import {
  DESCENDANT_EXCEEDS,
  DESCENDANT_OUTLIVES,
  KEY_NARROWED,
  NAME_CHANGED,
  OUTSIDE_PROJECTS,
} from "./model.ts";
import {
  areWithin,
  differingFields,
  findWidening,
  type KeyChange,
  type NarrowedFields,
} from "./narrowing.ts";
import { presentNarrowing } from "./presenters.ts";
import { requireExpectedKey, requireValidKey } from "./service.ts";
import * as store from "./store.ts";
import * as updates from "./update-store.ts";

export interface KeyUpdate {
  name: string | undefined;
  narrowed: NarrowedFields;
}

/** Renames or narrows a key. A key never gets more than it has. */
export async function updateKey(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
  { name, narrowed: sent }: KeyUpdate,
): Promise<store.ApiKeyRow> {
  const before = await requireValidKey(ctx, organizationId, id);
  await requireAccessOf(ctx, before);
  await requireExpectedKey(ctx, before);
  const narrowed = await resolveNarrowed(ctx, before, sent);
  const change = { name: name === before.name ? undefined : name, narrowed };
  if (change.name === undefined && !narrowed) return before;
  const { secretHash, version } = before;
  const changedKeys = narrowed ? [{ secretHash, version: version + 1 }] : [];
  const [key] = await writeChange(ctx, before, change, changedKeys);
  if (!key) throw await findConflict(ctx, before, change);
  if (narrowed) await ctx.invalidateKeys(changedKeys);
  return key;
}

async function resolveNarrowed(
  ctx: ServiceContext,
  before: store.ApiKeyRow,
  sent: NarrowedFields,
): Promise<NarrowedFields | undefined> {
  const narrowed = differingFields(before, sent);
  if (!narrowed) return undefined;
  const issues = findWidening(before, narrowed, ctx.clock.now());
  if (issues.length > 0) throw new BadInput(issues);
  if (!narrowed.projectIds && !narrowed.environmentIds) return narrowed;
  return resolveBoundaries(ctx, before, narrowed);
}

/** Environments imply their projects, if the key has access to all projects and none are named. */
async function resolveBoundaries(
  { db, actor }: ServiceContext,
  before: store.ApiKeyRow,
  narrowed: NarrowedFields,
): Promise<NarrowedFields> {
  const { organizationId } = before;
  // The others are in the key already, whether or not they still exist.
  const newProjects = before.projectIds ? [] : (narrowed.projectIds ?? []);
  const newEnvironments = before.environmentIds ? [] : (narrowed.environmentIds ?? []);
  if (!areWithin(newProjects, actor.projectIds)) throw new NotFound("project");
  if (!areWithin(newEnvironments, actor.environmentIds)) throw new NotFound("environment");
  const ids = narrowed.environmentIds ?? before.environmentIds ?? [];
  const { projects, environments } = await batch(db, {
    projects: store.findProjects(db, organizationId, newProjects),
    environments: store.findEnvironments(db, { organizationId, projectIds: null }, ids),
  });
  if (projects.length < newProjects.length) throw new NotFound("project");
  const visible = environments.filter(({ projectId }) => areWithin([projectId], actor.projectIds));
  if (!newEnvironments.every((id) => visible.some((each) => each.id === id))) {
    throw new NotFound("environment");
  }
  const owners = [...new Set(environments.map(({ projectId }) => projectId))];
  const projectIds = narrowed.projectIds ?? before.projectIds;
  if (!projectIds) return { ...narrowed, projectIds: owners };
  if (areWithin(owners, projectIds)) return narrowed;
  throw new BadInput([{ path: "environment_ids", message: OUTSIDE_PROJECTS }]);
}

async function writeChange(
  ctx: ServiceContext,
  before: store.ApiKeyRow,
  change: KeyChange,
  changedKeys: readonly ChangedKey[],
) {
  const { organizationId, id } = before;
  const bytes = bytesOf(change.name ?? before.name) - bytesOf(before.name);
  const limits = limitGrowth(ctx, { organizationId, bytes });
  const statements = {
    limits: limits.statement,
    changed: updates.updateKey(ctx, before, change),
    recorded: recordRow(ctx, store.findKey(ctx.db, organizationId, id), { changedKeys }),
    audit: recordActs(ctx, organizationId, describeChange(before, change)),
  };
  return (await limits.enforce(batch(ctx.db, statements))).changed;
}

function describeChange(before: store.ApiKeyRow, { name, narrowed }: KeyChange): AuditedAct[] {
  const target = { type: "api_key", id: before.id, name: name ?? before.name } as const;
  const renamed = { before: { name: before.name }, after: { name } };
  return [
    ...(name === undefined
      ? []
      : [{ action: "api_key.renamed", target, changes: renamed } as const]),
    ...(narrowed
      ? [
          {
            action: "api_key.narrowed",
            target,
            changes: describeNarrowing(before, narrowed),
          } as const,
        ]
      : []),
  ];
}

/** The changed fields, before and after. */
function describeNarrowing(before: store.ApiKeyRow, narrowed: NarrowedFields) {
  const { scopes = null, projectIds = null, environmentIds = null, expiresAt = null } = narrowed;
  const after = presentNarrowing({ scopes, projectIds, environmentIds, expiresAt });
  const isChanged = ([name]: [string, unknown]) => after[name as keyof typeof after] !== undefined;
  const fields = Object.entries(presentNarrowing(before)).filter(isChanged);
  return { before: Object.fromEntries(fields), after };
}

/** The reason that nothing was changed. Throws `NotFound` for a key that is revoked by now. */
async function findConflict(
  ctx: ServiceContext,
  before: store.ApiKeyRow,
  { name, narrowed }: KeyChange,
): Promise<Conflict> {
  const { organizationId, id } = before;
  const now = await requireValidKey(ctx, organizationId, id);
  await requireExpectedKey(ctx, now);
  if (name !== undefined && now.name !== before.name) return new Conflict(NAME_CHANGED);
  if (!narrowed || now.version !== before.version) return new Conflict(KEY_NARROWED);
  const excess = await updates.findExcess(ctx.db, before, narrowed, ctx.clock.now());
  if (excess.outlives) return new Conflict(DESCENDANT_OUTLIVES);
  return new Conflict(excess.exceeds ? DESCENDANT_EXCEEDS : LAST_OWNER_KEY);
}
