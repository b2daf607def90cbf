export {
  looksLikeRunnerToken,
  parseRunnerToken,
  type RunnerPrincipal,
  runnerTokenStore,
} from "./credentials.ts";
