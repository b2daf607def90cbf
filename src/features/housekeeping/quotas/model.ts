import { LIMITS } from "../../../lib/limits.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";

/** What an organization may store, unless an operator has given it a quota of its own. */
export const DEFAULT_QUOTAS = {
  ...QUOTAS,
  stored_bytes: LIMITS.storedBytes.value,
  history_bytes: LIMITS.historyBytes.value,
};
export type QuotaKind = keyof typeof DEFAULT_QUOTAS;

export const QUOTA_KINDS = Object.keys(DEFAULT_QUOTAS) as [QuotaKind, ...QuotaKind[]];
