import { type SQL, sql } from "drizzle-orm";
import { MEMBER_KINDS } from "../../tenancy/model.ts";

export const KEY_OWNER_TYPES = [...MEMBER_KINDS, "ci"] as const;

/** Whose key it is. */
export interface KeyOwner {
  type: (typeof KEY_OWNER_TYPES)[number];
  name: string;
  /** Of a CI job: what has issued the key. */
  trustId?: string;
}

/** Selects JSON of `KeyOwner`. Null: the member has been removed. */
export function keyOwnerOf(membershipId: SQL, trustId: SQL) {
  return sql<string | null>`coalesce(
    (select json_object('type', 'ci', 'name', trusts.name, 'trustId', trusts.id)
      from trusts where trusts.id = ${trustId}),
    (select json_object('type', memberships.kind, 'name', accounts.display_name)
      from memberships join accounts on accounts.id = memberships.account_id
      where memberships.id = ${membershipId}))`;
}

export function presentKeyOwner(owner: string | null | undefined) {
  if (!owner) return undefined;
  const { type, name, trustId } = JSON.parse(owner) as KeyOwner;
  return { type, name, trust_id: trustId };
}
