export { type AuditedAct, auditDelivery, insertAuditRecord } from "./store.ts";
