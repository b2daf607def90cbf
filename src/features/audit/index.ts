export { type AuditedAct, insertAuditRecord } from "./store.ts";
