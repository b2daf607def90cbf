export { parseRunnerToken, seemsRunnerToken } from "./format.ts";
export { type RunnerPrincipal, runnerTokenStore } from "./principals.ts";
