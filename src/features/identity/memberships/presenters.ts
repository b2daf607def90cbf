import type { z } from "@hono/zod-openapi";
import { toTimestamp } from "../../../lib/clock.ts";
import type { AccountInput } from "./schemas.ts";
import type { AccountRow, MemberRow, NewAccount } from "./store.ts";

/** Without the e-mail address, which is private to the account. */
export function presentMember(row: MemberRow) {
  return {
    membership_id: row.membershipId,
    account_id: row.accountId,
    org_id: row.organizationId,
    ...presentPerson(row),
    role: row.role,
    kind: row.kind,
    status: row.status,
    created_at: toTimestamp(row.createdAt),
  };
}

export function presentPerson(
  person: Pick<AccountRow, "name" | "displayName" | "avatar" | "profile">,
) {
  return {
    name: person.name,
    display_name: person.displayName,
    avatar: person.avatar ?? undefined,
    profile: person.profile,
  };
}

export function toNewAccount(body: z.output<typeof AccountInput>): NewAccount {
  const { email, name, display_name, avatar, profile } = body;
  return {
    email,
    name,
    displayName: display_name,
    avatar,
    profile: {
      bio: profile?.bio ?? undefined,
      github: profile?.github ?? undefined,
      location: profile?.location ?? undefined,
      twitter: profile?.twitter ?? undefined,
      website: profile?.website ?? undefined,
    },
  };
}
