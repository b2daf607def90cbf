import type { ServiceContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { bytesOf } from "../../../lib/bytes-of.ts";
import { BadInput, NotFound } from "../../../lib/errors.ts";
import { write } from "../../../writes/write.ts";
import type { AuditedAct } from "../../housekeeping/audit/index.ts";
import { findGreatest, LAST_OWNER_KEY } from "../credentials/index.ts";
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
import { requireExpected } from "./service.ts";
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
  const before = await requireExpected(ctx, organizationId, id);
  const narrowed = await resolveNarrowed(ctx, before, sent);
  const change = { name: name === before.name ? undefined : name, narrowed };
  if (change.name === undefined && !narrowed) return before;
  if (narrowed) await requireNoExcess(ctx, before, narrowed);
  const { secretHash, keyVersion } = before;
  const changedKeys = narrowed ? [{ secretHash, version: keyVersion + 1 }] : [];
  const bytes = bytesOf(change.name ?? before.name) - bytesOf(before.name);
  return write(ctx, {
    growth: { organizationId, bytes },
    guarded: updates.updateKey(ctx, before, change),
    returns: store.findKey(ctx.db, organizationId, id),
    stored: { changedKeys },
    acts: describeChange(before, change),
    reread: () => requireUpdatable(ctx, before, change),
    otherwise: () => LAST_OWNER_KEY,
    committed: () => ctx.invalidateKeys(changedKeys),
  });
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

/** Throws if the key has changed, or if something that descends from it would have more. */
async function requireUpdatable(
  ctx: ServiceContext,
  before: store.ApiKeyRow,
  { name, narrowed }: KeyChange,
): Promise<void> {
  const now = await requireExpected(ctx, before.organizationId, before.id);
  if (name !== undefined && now.name !== before.name) throw NAME_CHANGED;
  if (!narrowed || now.keyVersion !== before.keyVersion) throw KEY_NARROWED;
  await requireNoExcess(ctx, before, narrowed);
}

async function requireNoExcess(
  { db, clock }: ServiceContext,
  before: store.ApiKeyRow,
  narrowed: NonNullable<KeyChange["narrowed"]>,
): Promise<void> {
  const excess = await findGreatest(db, updates.excessWalk(db, before, narrowed, clock.now()));
  if (excess === 2) throw DESCENDANT_OUTLIVES;
  if (excess === 1) throw DESCENDANT_EXCEEDS;
}
