export {
  issueRunnerToken,
  looksLikeRunnerToken,
  parseRunnerToken,
  type RunnerPrincipal,
  runnerTokenStore,
} from "./credentials.ts";
export { presentToken } from "./presenters.ts";
export { insertToken } from "./store.ts";
