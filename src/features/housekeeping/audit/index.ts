export { eraseAuditedPerson } from "./erasure.ts";
export { memberNameOf } from "./member-name.ts";
export type { AuditedAct } from "./model.ts";
export { firstNames } from "./names.ts";
export {
  EVERYWHERE,
  NOT_FULL,
  notFullIn,
  refuseEscalation,
  requireFull,
  requireFullWhereProtected,
  requirePoolAuthority,
} from "./service.ts";
export {
  type ActOnMany,
  type AuditContext,
  auditDelivery,
  auditOperator,
  auditRead,
  isAudit,
  type OtherActor,
  writeAudit,
  writeAuditFrom,
} from "./store.ts";
export { parentColumns, presentTargets } from "./targets.ts";
