export { parseRunnerToken, seemsRunnerToken } from "./format.ts";
export { type RunnerPrincipal, tokenRing } from "./principals.ts";
