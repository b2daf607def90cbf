export { DEFAULT_QUOTAS, QUOTA_KINDS, type QuotaKind, quotaOf, selectFounder } from "./table.ts";
