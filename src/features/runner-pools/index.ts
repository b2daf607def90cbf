export {
  parseRunnerToken,
  type RunnerPrincipal,
  runnerTokenStore,
  seemsRunnerToken,
} from "./credentials.ts";
