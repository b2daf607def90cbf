export { cancelUnfinished, finalize, sweep } from "./finalize-store.ts";
export {
  type AttemptState,
  type DeploymentStatus,
  FAILURES,
  HEARTBEAT_MS,
  LEASE_MS,
  OFFER_MS,
  OUTCOMES,
  type Outcome,
  REPORTED_STATUSES,
  type ReportedStatus,
  STACK_STATUSES,
  STALE_MS,
} from "./lifecycle.ts";
export {
  type Document,
  type Operation,
  PatchError,
  patchBetween,
  patchDocument,
} from "./patch.ts";
export { presentDeployment } from "./presenters.ts";
export { Deployment } from "./schemas.ts";
export {
  cutDeployments,
  DEPLOYMENT,
  type ListedRow,
  RECORD as DEPLOYMENT_RECORD,
  STACKS_OF_PAGE,
} from "./store.ts";
