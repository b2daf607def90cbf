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
