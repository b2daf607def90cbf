import type { OrgRole } from "../../../lib/roles.ts";

/** What a credential can have made, directly or with what it has made. */
export const FAMILY_ITEM_TYPES = [
  "api_key",
  "runner_token",
  "trust",
  "invitation",
  "session",
  "sign_in_link",
  "member",
  "organization",
] as const;
export type FamilyItemType = (typeof FAMILY_ITEM_TYPES)[number];

export interface FoundItem {
  type: FamilyItemType;
  id: string;
  name: string | null;
  membershipId: string | null;
  /** JSON of `KeyOwner`. */
  owner: string | null;
  role: OrgRole | null;
  createdAt: number;
  /** Of an organization: a JSON array of the types and the IDs of its credentials, such as `api_key 0190…`. */
  credentials: string | null;
}

export interface FamilyItem extends Omit<FoundItem, "credentials"> {
  /** Of an organization: the types and the IDs of its credentials. */
  credentials: ReadonlySet<string>;
}
