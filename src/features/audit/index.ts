export { eraseAuditedPerson } from "./erasure.ts";
export type { AuditedAct, AuditedAction } from "./model.ts";
export {
  type AuditContext,
  auditDelivery,
  auditOperator,
  type OtherActor,
  recordActs,
  recordActsFrom,
  recordActsOf,
  recordRefusal,
} from "./store.ts";
