export { DEFAULT_QUOTAS, QUOTA_KINDS, type QuotaKind } from "./model.ts";
export { quotaOf, selectFounder } from "./store.ts";
