export { type AuditedAct, auditDelivery, auditOperator, insertAuditRecord } from "./store.ts";
