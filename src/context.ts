import type { Database } from "./db/client.ts";
import type { Ownership } from "./db/ownership.ts";
import type { Cipher } from "./lib/cipher.ts";
import type { Clock } from "./lib/clock.ts";
import { Forbidden, NotFound, Unauthorized } from "./lib/errors.ts";
import type { Log } from "./lib/log.ts";
import { type OrgRole, orgRoleReaches, type ProjectRole, projectRoleReaches } from "./lib/roles.ts";

/** Who asks: an API key, the membership it belongs to, and what the two may do together. */
export interface Actor {
  keyId: string;
  organizationId: string;
  membershipId: string;
  accountId: string;
  /** The lower of the key's role and the membership's. */
  role: OrgRole;
}

/** A key whose authority has changed, for its rate limiter to know. */
export interface ChangedKey {
  secretHash: string;
  version: number;
}

/** A runner, by the token that it sends. It acts for its pool, and for nobody else. */
export interface Runner {
  keyId: string;
  organizationId: string;
  poolId: string;
}

/** What the service does by itself receives: the schedule, and the consumers of its queues. */
export interface SystemContext {
  db: Database;
  ownership: Ownership;
  clock: Clock;
  log: Log;
  /** Opens and seals values; fails while the deployment has no keyring. */
  cipher(): Promise<Cipher>;
  /** Enqueues deliveries that were written. Nothing waits for it, and the sweep makes up for a failure. */
  enqueue(deliveryIds: readonly string[]): void;
  /** Whether webhooks may go to `http:` and to any host, for local development. */
  allowsInsecureWebhooks: boolean;
}

/** What the verbs of every plane receive. */
export interface CoreContext extends SystemContext {
  /** Makes every isolate read these keys again before it acts on what it has cached of them. */
  invalidateKeys(keys: readonly ChangedKey[]): Promise<void>;
}

type TextSettings = { [Name in keyof Env as Env[Name] extends string ? Name : never]: Env[Name] };

/** The variables of the deployment. Each is read by the one feature that it is about. */
export type Settings = Omit<TextSettings, SecretName> & {
  /** Not among the required secrets, so `Env` lacks it. */
  SLACK_CLIENT_SECRET?: string;
};

type SecretName = "BOOTSTRAP_TOKEN" | "ENCRYPTION_KEYS" | "LEASE_SECRET";

/** What every verb of a service receives. */
export interface ServiceContext extends CoreContext {
  actor: Actor;
  settings: Settings;
  /** Whether `POST /v1/orgs` creates organizations (setting `ALLOW_NEW_ORGANIZATIONS`). */
  allowsNewOrganizations: boolean;
}

/** What every verb of the runner plane receives. */
export interface RunnerContext extends CoreContext {
  runner: Runner;
  /** What proves that a runner was given this attempt. */
  leaseToken(attemptId: string): Promise<string>;
}

/** Throws unless the actor belongs to the organization and has at least this role in it. */
export function requireOrgRole(actor: Actor, organizationId: string, needed: OrgRole): void {
  requireOrganization(actor, organizationId);
  if (!orgRoleReaches(actor.role, needed)) throw Unauthorized.role(needed);
}

/** Another organization is as good as none: its existence is never confirmed. */
export function requireOrganization(actor: Actor, organizationId: string): void {
  if (actor.organizationId !== organizationId) throw new NotFound("organization");
}

/** Something of a project, and the role in that project of the one who asks. */
export interface WithMemberRole {
  memberRole: ProjectRole | null;
}

/**
 * What was found, if the actor may do in its project what takes the role `needed`. An admin of the
 * organization may do everything in its projects. `what` names the thing, should there be none.
 */
export function authorize<Found extends WithMemberRole>(
  actor: Actor,
  what: string,
  found: Found | undefined,
  needed: ProjectRole,
): Found {
  if (!found) throw new NotFound(what);
  const { memberRole } = found;
  const reaches = memberRole !== null && projectRoleReaches(memberRole, needed);
  if (!reaches && !orgRoleReaches(actor.role, "admin")) throw new Forbidden(needed);
  return found;
}
