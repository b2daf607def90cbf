import { Forbidden, NotFound, Unauthorized } from "./lib/errors.ts";
import { type OrgRole, orgRoleReaches, type ProjectRole, projectRoleReaches } from "./lib/roles.ts";
import { grantsScope, type Scope } from "./lib/scopes.ts";

/** Acts with the authority of the key that it came from, which is the key of its actor. */
export interface ActorSession {
  id: string;
  /** At the latest. */
  expiresAt: number;
  /**
   * Whether the person has signed in by OpenID Connect. The session then has a key of its own, which
   * nobody else has, and may switch between the person's organizations.
   */
  isOfPerson: boolean;
}

export interface Actor {
  keyId: string;
  organizationId: string;
  membershipId: string;
  accountId: string;
  /** The lower of the roles of the key and the membership. */
  role: OrgRole;
  /** Null: all. */
  scopes: readonly Scope[] | null;
  /** The only projects that the key can access. Null: all. */
  projectIds: readonly string[] | null;
  /** The only environments that the key can access. Null: all. */
  environmentIds: readonly string[] | null;
  /** Whether only the membership itself has made the key and the keys that it descends from. */
  isOwnKey: boolean;
  /** The key and the membership that created the key. Null: not known, or no key. */
  createdByKeyId: string | null;
  createdByMembershipId: string | null;
  /** When the key expires. Null: never. */
  expiresAt: number | null;
  /**
   * Whether the key is the person's own, is not narrowed, has no expiry but one that only the maximum
   * age of keys imposed, and has the whole role of its membership.
   */
  isFull: boolean;
  /** Absent: the request has the key itself. */
  session?: ActorSession;
}

/** The ID of the session or the key that a request was sent with. */
export function credentialIdOf({ session, keyId }: Pick<Actor, "session" | "keyId">): string {
  return session?.id ?? keyId;
}

/** Of what an actor makes: it belongs to the family of its key, and of its session. */
export function lineageOf({ keyId, membershipId, session }: Actor) {
  return {
    createdByKeyId: keyId,
    issuedByKeyId: keyId,
    createdByMembershipId: membershipId,
    createdBySessionId: session?.id ?? null,
  };
}

/** Acts only for its pool. */
export interface Runner {
  keyId: string;
  organizationId: string;
  /** See `Principal`. */
  limitsOrganizationId: string;
  poolId: string;
  /** The key and the membership that created the token. Null: not known. */
  createdByKeyId: string | null;
  createdByMembershipId: string | null;
}

export function hasScope({ scopes }: Pick<Actor, "scopes">, needed: Scope): boolean {
  return !scopes || grantsScope(scopes, needed);
}

/** Throws `Unauthorized` if the key is narrowed and lacks the scope. */
export function requireScope(actor: Pick<Actor, "scopes">, needed: Scope): void {
  if (!hasScope(actor, needed)) throw Unauthorized.scope(needed);
}

export function requireOrgRole(actor: Actor, organizationId: string, needed: OrgRole): void {
  requireOrganization(actor, organizationId);
  requireRole(actor, needed);
}

/** In the organization of the actor. */
export function requireRole(actor: Actor, needed: OrgRole): void {
  if (!orgRoleReaches(actor.role, needed)) throw Unauthorized.role(needed);
}

/**
 * Throws `NotFound` for another organization, so that its existence is not disclosed, and for a key
 * with boundaries, because the organization itself is outside of them.
 */
export function requireOrganization(actor: Actor, organizationId: string): void {
  requireOwnOrganization(actor, organizationId);
  if (hasBoundaries(actor)) throw new NotFound("organization");
}

/** Like `requireOrganization`, for operations that observe the boundaries of the key themselves. */
export function requireOwnOrganization(actor: Actor, organizationId: string): void {
  if (actor.organizationId !== organizationId) throw new NotFound("organization");
}

/** Whether the key can access only some projects or environments. */
export function hasBoundaries({ projectIds, environmentIds }: Actor): boolean {
  return projectIds !== null || environmentIds !== null;
}

/** Whether the actor can read everything in its organization, as far as its scopes allow. */
export function readsEverything(actor: Actor): boolean {
  return orgRoleReaches(actor.role, "admin") && !hasBoundaries(actor);
}

export interface Located {
  projectId: string;
  /** Null for a resource of the project itself. */
  environmentId: string | null;
}

interface Authorizable extends Located {
  memberRole: ProjectRole | null;
}

/**
 * Throws `NotFound` with the name `what` if there is no resource or it is outside of the boundaries of
 * the key, and `Forbidden` unless the actor has the role `needed` in the project, or admin in the
 * organization. A key that is narrowed to environments only reads the resources of a project itself.
 */
export function authorize<Found extends Authorizable>(
  actor: Actor,
  what: string,
  found: Found | undefined,
  needed: ProjectRole,
): Found {
  if (!found || !isWithinBoundaries(actor, found)) throw new NotFound(what);
  if (!hasProjectRole(actor, found, needed)) throw new Forbidden(needed);
  const isReading = needed === "viewer";
  if (!isReading && found.environmentId === null && actor.environmentIds !== null) {
    throw new Unauthorized(ONLY_IN_ENVIRONMENTS);
  }
  return found;
}

/** Whether the actor has the role in the project of a resource, or is an admin of the organization. */
export function hasProjectRole(
  { role }: Actor,
  { memberRole }: Pick<Authorizable, "memberRole">,
  needed: ProjectRole,
): boolean {
  if (orgRoleReaches(role, "admin")) return true;
  return memberRole !== null && projectRoleReaches(memberRole, needed);
}

export const ONLY_IN_ENVIRONMENTS =
  "This key is narrowed to environments, so it cannot change the project itself.";

function isWithinBoundaries(
  { projectIds, environmentIds }: Actor,
  { projectId, environmentId }: Located,
): boolean {
  if (projectIds !== null && !projectIds.includes(projectId)) return false;
  return (
    environmentId === null || environmentIds === null || environmentIds.includes(environmentId)
  );
}
