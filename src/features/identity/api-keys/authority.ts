import { type Actor, hasBoundaries, requireOwnOrganization, requireRole } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { BadInput, NotFound, Unauthorized } from "../../../lib/errors.ts";
import { type OrgRole, orgRoleReaches } from "../../../lib/roles.ts";
import type { Scope } from "../../../lib/scopes.ts";
import { type AuditedAct, refuseEscalation } from "../../housekeeping/audit/index.ts";
import { excessOf, type Narrowing } from "./narrowing.ts";
import type { ApiKeyRow, KeyOrTombstone } from "./store.ts";
import * as store from "./store.ts";

/** Also for a key with boundaries: what it creates has the same boundaries. */
export function requireKeyAdmin(actor: Actor, organizationId: string): void {
  requireOwnOrganization(actor, organizationId);
  requireRole(actor, "admin");
}

/** Whether the actor sees the keys of its own membership only. */
export function seesOnlyOwnKeys(actor: Actor): boolean {
  return !orgRoleReaches(actor.role, "admin") || hasBoundaries(actor);
}

/** Without the role admin, all keys of others are refused equally, whether or not they exist. */
export function authorizeKey<Key extends { membershipId: string }>(
  actor: Actor,
  key: Key | undefined,
): Key {
  if (key && key.membershipId === actor.membershipId) return key;
  requireRole(actor, "admin");
  if (!key || hasBoundaries(actor)) throw new NotFound("API key");
  return key;
}

/** Whoever acts on another key needs at least its access. That of a revoked key is not known. */
export async function requireAccessOf(ctx: ServiceContext, key: KeyOrTombstone): Promise<void> {
  if (key.id === ctx.actor.keyId) return;
  const { id, name, role } = key;
  const narrowing = "revokedAt" in key ? UNLIMITED : key;
  await requireAccess(ctx, { type: "api_key", id, name }, role, narrowing);
}

/** Throws, and writes the refusal to the audit log,, unless the actor has at least this access. */
export async function requireAccess(
  ctx: ServiceContext,
  target: AuditedAct["target"],
  role: OrgRole,
  narrowing: Narrowing,
): Promise<void> {
  const { actor } = ctx;
  if (!orgRoleReaches(actor.role, role))
    await refuseEscalation(ctx, target, Unauthorized.role(role));
  if (excessOf(narrowing, actor) !== undefined) await refuseEscalation(ctx, target, LESS_ACCESS);
}

/** A key that is less than the person's only rotates itself, and a session rotates nothing. */
export async function requireMayRotate(
  ctx: ServiceContext,
  key: ApiKeyRow,
  caller: store.Caller | undefined,
): Promise<void> {
  const { actor } = ctx;
  const target = { type: "api_key", id: key.id, name: key.name } as const;
  if (actor.session) await refuseEscalation(ctx, target, SESSION_ROTATES);
  if (key.id === actor.keyId) return;
  const isNarrowed = actor.scopes !== null || hasBoundaries(actor);
  const isLasting = caller && (caller.expiresAt === null || caller.expiresByPolicy);
  if (isLasting && !isNarrowed && caller.kind === "person") return;
  await refuseEscalation(ctx, target, ROTATES_ITSELF);
}

const UNLIMITED: Narrowing = { scopes: null, projectIds: null, environmentIds: null };

export const LESS_ACCESS = new Unauthorized(
  "This key cannot change or revoke a key that can access more than it can.",
);

export const ROTATES_ITSELF = new Unauthorized(
  "A key that is narrowed or expires, and a key of a service account or of a trust, can only rotate " +
    "itself. Use a key of the person that is not narrowed and does not expire.",
);

export const SESSION_ROTATES = new Unauthorized(
  "A session rotates no key, because it does not have the secret. Use the key itself, or create another.",
);

export interface RequestedAuthority {
  membership: { id: string; role: OrgRole };
  role: OrgRole;
  narrowing: Narrowing;
}

/** Nobody gives a key more than their own key has: not the role, and not what it can access. */
export async function requireNoEscalation(
  ctx: ServiceContext,
  target: AuditedAct["target"],
  requested: RequestedAuthority,
): Promise<void> {
  const refusal = escalationOf(ctx.actor, requested);
  if (refusal) await refuseEscalation(ctx, target, refusal);
}

/** Nobody gives a key a longer life than their own key has. Null: it never expires. */
export async function requireNoLongerLife(
  ctx: ServiceContext,
  target: AuditedAct["target"],
  expiresAt: number | null,
): Promise<void> {
  const own = ctx.actor.expiresAt;
  if (own === null || (expiresAt !== null && expiresAt <= own)) return;
  await refuseEscalation(ctx, target, exceedingKey("a longer life than its own"));
}

function escalationOf(
  actor: Actor,
  { membership, role, narrowing }: RequestedAuthority,
): Unauthorized | undefined {
  const isOwners = membership.role === "owner" && membership.id !== actor.membershipId;
  if (isOwners && actor.role !== "owner") return Unauthorized.role("owner");
  if (!orgRoleReaches(actor.role, role)) return Unauthorized.role(role);
  const excess = excessOf(narrowing, actor);
  return excess === undefined ? undefined : exceedingKey(excess);
}

export function exceedingKey(excess: string): Unauthorized {
  return new Unauthorized(`This key cannot give another key ${excess}.`);
}

/** Undefined: as the key that creates it. */
export interface NarrowingInput {
  scopes: readonly Scope[] | undefined;
  projectIds: readonly string[] | undefined;
  environmentIds: readonly string[] | undefined;
}

/** What a new credential may access, before its projects and environments are looked up. */
export function requestedNarrowing(actor: Actor, input: NarrowingInput): Narrowing {
  const {
    scopes = actor.scopes,
    projectIds = actor.projectIds,
    environmentIds = actor.environmentIds,
  } = input;
  return { scopes, projectIds, environmentIds };
}

/**
 * What a new credential may access. Environments imply their projects, if none are named.
 * `requireNoEscalation` comes before it, so that the response for a resource outside of the boundaries
 * of the actor's key does not depend on whether it exists.
 */
export async function resolveNarrowing(
  { db, actor }: ServiceContext,
  input: NarrowingInput,
): Promise<Narrowing> {
  const narrowing = requestedNarrowing(actor, input);
  const { projectIds = [], environmentIds = [] } = input;
  if (projectIds.length + environmentIds.length === 0) return narrowing;
  const { projects, environments } = await batch(db, {
    projects: store.findProjects(db, actor.organizationId, projectIds),
    environments: store.findEnvironments(db, actor, environmentIds),
  });
  if (projects.length < projectIds.length) throw new NotFound("project");
  if (environments.length < environmentIds.length) throw new NotFound("environment");
  const owners = environments.map(({ projectId }) => projectId);
  if (input.projectIds && owners.some((id) => !projectIds.includes(id))) {
    const message = "Send environments of the projects in project_ids only.";
    throw new BadInput([{ path: "environment_ids", message }]);
  }
  if (input.projectIds || !input.environmentIds) return narrowing;
  return { ...narrowing, projectIds: [...new Set(owners)] };
}
