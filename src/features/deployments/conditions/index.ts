export {
  type Content,
  exceptionsOf,
  findGivable,
  findOpenConditions,
  heldUntil,
  isApprover,
  isExpired,
  needsContent,
} from "./evaluate.ts";
export {
  APPROVAL_DECISIONS,
  type ApprovalDecision,
  CONDITION_CODES,
  type Condition,
  type Facts,
  type Freeze,
  HELD_FOR_EVENT,
  MEETS_RULES,
  OVERRIDABLE,
  type Override,
} from "./model.ts";
export {
  BASIS,
  FACTS,
  FACTS_OF_APPROVALS,
  hasFacts,
  isUnconditional,
  mayApprove,
} from "./store.ts";
