export {
  exceptionsOf,
  findGivable,
  findOpenConditions,
  heldUntil,
  isApprover,
  isExpired,
  isKnown,
  lacksOwnDigests,
} from "./evaluate.ts";
export {
  type ApprovalDecision,
  type Condition,
  type Facts,
  type Freeze,
  HELD_FOR_EVENT,
  MEETS_RULES,
  OVERRIDABLE,
  type Override,
  type OwnDigests,
  type Success,
  type VerifiedSource,
} from "./model.ts";
export { maySee, type Reader } from "./reader.ts";
export {
  BASIS,
  FACTS,
  FACTS_OF_APPROVALS,
  hasFacts,
  isUnconditional,
  isVerified,
  mayApprove,
  PAST_BASIS,
  SEARCHED_SUCCESSES,
  START_BASIS,
  selectFacts,
} from "./store.ts";
