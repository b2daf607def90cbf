export { parseRunnerToken } from "./format.ts";
export { type RunnerPrincipal, tokenRing } from "./principals.ts";
