export type { AuditedAct, AuditedAction } from "./model.ts";
export {
  type AuditContext,
  auditDelivery,
  auditOperator,
  type OtherActor,
  recordActs,
  recordActsOf,
  recordRefusal,
} from "./store.ts";
