export { CHECKED_OF_ATTEMPT, type Checked } from "./checked.ts";
export { contentOf, digestOfText, type ResultingContent } from "./content.ts";
export { CREATOR } from "./creator-store.ts";
export { computeOwn } from "./digest-service.ts";
export { evaluateQueued } from "./evaluation-service.ts";
export {
  type AttemptState,
  DEPLOYMENT_FAILURES,
  type DeploymentStatus,
  HEARTBEAT_INTERVAL_MS,
  hasEnded,
  LEASE_TTL_MS,
  LOG_INTERVAL_MS,
  LOST_AFTER_MS,
  MAXIMUM_LAPSED_OFFERS,
  MAXIMUM_RELEASED_OFFERS,
  OFFER_TTL_MS,
  OUTCOMES,
  type Outcome,
  REPORTED_STATUSES,
  STACK_STATUSES,
  START_TRIGGERS,
  type StackStatus,
} from "./lifecycle.ts";
export { type Completion, type LogDeclaration, toCompletionText } from "./model.ts";
export { presentOrigin, secondsBetween } from "./origin-presenters.ts";
export {
  type Document,
  type Operation,
  patchBetween,
} from "./patch.ts";
export { findPending, storeResulting } from "./pending-store.ts";
export { presentDeployment } from "./presenters.ts";
export { type Rebase, resolveRebase } from "./rebase.ts";
export { orderStacks } from "./stack-order.ts";
export {
  DEPLOYMENT,
  type DeploymentRow,
  type FoundDeployment,
  findDeployment,
  JSON_TEXTS,
  listStacksOfEnvironment,
  PAGE_ITEM as DEPLOYMENT_PAGE_ITEM,
  type StackOfDeployment,
  selectDeployment,
} from "./store.ts";
export { cancelOfDisconnecting } from "./transitions/cancel.ts";
export { incrementEpoch, insertAttempt, releaseOffer } from "./transitions/claim.ts";
export { completeDeployment } from "./transitions/complete.ts";
export { isDeployable } from "./transitions/create.ts";
export { expire } from "./transitions/expire.ts";
export { finalize } from "./transitions/finalize.ts";
export {
  type AttemptKey,
  deploymentIdOf,
  isAttempt,
  whereLeaseIsValid,
} from "./transitions/lease.ts";
export { applyReport, type Report } from "./transitions/report.ts";
export { countLive, type ReportedResource } from "./transitions/report-resources.ts";
export { overrideConditions, refuseStart, rejectDeployment } from "./transitions/rules.ts";
export { failPatch, rebase, reorderStacks, startDeployment } from "./transitions/start.ts";
export { FROM_DEPLOYMENTS, LOCATION } from "./write-events.ts";
