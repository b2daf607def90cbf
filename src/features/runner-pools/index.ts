export {
  issueRunnerToken,
  looksLikeRunnerToken,
  parseRunnerToken,
  type RunnerPrincipal,
  runnerTokenStore,
} from "./credentials.ts";
export { presentToken } from "./presenters.ts";
export { RunnerPoolParams } from "./schemas.ts";
export { getPool } from "./service.ts";
export { findPool, insertToken } from "./store.ts";
