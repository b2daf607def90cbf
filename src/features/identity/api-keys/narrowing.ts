import { toTimestamp } from "../../../lib/clock.ts";
import type { Issue } from "../../../lib/errors.ts";
import { grantsScope, type Scope } from "../../../lib/scopes.ts";
import { IN_THE_PAST } from "../../../lib/time-messages.ts";
import { KEEP_AT_MOST } from "./model.ts";

/** What a key may access at most. Null: everything that its role allows. */
export interface Narrowing {
  scopes: readonly Scope[] | null;
  projectIds: readonly string[] | null;
  environmentIds: readonly string[] | null;
}

/** What `requested` has beyond `own`, for an error message. Undefined if it is within. */
export function excessOf(requested: Narrowing, own: Narrowing): string | undefined {
  const scopes = excessScopes(requested.scopes, own.scopes);
  if (scopes) return scopes;
  if (!areWithin(requested.projectIds, own.projectIds)) return "projects that it cannot access";
  if (areWithin(requested.environmentIds, own.environmentIds)) return undefined;
  return "environments that it cannot access";
}

function excessScopes(
  requested: readonly Scope[] | null,
  own: readonly Scope[] | null,
): string | undefined {
  if (own === null) return undefined;
  if (requested === null) return "all scopes";
  const excess = requested.filter((scope) => !grantsScope(own, scope));
  return excess.length > 0 ? `the scope ${excess.join(", ")}` : undefined;
}

export function areWithin(
  requested: readonly string[] | null,
  own: readonly string[] | null,
): boolean {
  return own === null || requested?.every((id) => own.includes(id)) === true;
}

export type NarrowedKey = Narrowing & { expiresAt: number | null };

/** The fields to narrow. Undefined: as it is. */
export type NarrowedFields = {
  [Name in keyof NarrowedKey]?: NonNullable<NarrowedKey[Name]> | undefined;
};

export interface KeyChange {
  name: string | undefined;
  narrowed: NarrowedFields | undefined;
}

/** The sent fields whose values are not those of the key. Undefined: none. */
export function differingFields(
  key: NarrowedKey,
  { expiresAt, ...lists }: NarrowedFields,
): NarrowedFields | undefined {
  const pick = <Item>(sent: readonly Item[] | undefined, own: readonly Item[] | null) =>
    sent && own && sent.length === own.length && sent.every((item) => own.includes(item))
      ? undefined
      : sent;
  const fields = {
    scopes: pick(lists.scopes, key.scopes),
    projectIds: pick(lists.projectIds, key.projectIds),
    environmentIds: pick(lists.environmentIds, key.environmentIds),
    expiresAt: expiresAt === key.expiresAt ? undefined : expiresAt,
  };
  return Object.values(fields).some((value) => value !== undefined) ? fields : undefined;
}

/** What is wrong with fields that would give the key more than it has. */
export function findWidening(key: NarrowedKey, fields: NarrowedFields, now: number): Issue[] {
  const { scopes, projectIds, environmentIds, expiresAt } = fields;
  const isWider = {
    scopes: scopes !== undefined && excessScopes(scopes, key.scopes) !== undefined,
    project_ids: projectIds !== undefined && !areWithin(projectIds, key.projectIds),
    environment_ids: environmentIds !== undefined && !areWithin(environmentIds, key.environmentIds),
  };
  const wider = (["scopes", "project_ids", "environment_ids"] as const)
    .filter((path) => isWider[path])
    .map((path) => ({ path, message: KEEP_AT_MOST[path] }));
  const expiry = expiresAt === undefined ? undefined : expiryProblem(key, expiresAt, now);
  return expiry === undefined ? wider : [...wider, { path: "expires_at", message: expiry }];
}

function expiryProblem(key: NarrowedKey, expiresAt: number, now: number): string | undefined {
  const own = key.expiresAt;
  if (own !== null && own <= now) return "The key has expired: leave this out.";
  if (expiresAt <= now) return IN_THE_PAST;
  if (own === null || expiresAt < own) return undefined;
  return `Send a time before ${toTimestamp(own)}: a key can only expire earlier.`;
}
