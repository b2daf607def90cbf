export { type RunnerPrincipal, runnerTokenStore } from "./credential-store.ts";
export { parseRunnerToken, seemsRunnerToken } from "./format.ts";
