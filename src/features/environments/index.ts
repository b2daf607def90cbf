export { CONFIGURATION_BYTES, type Configuration, configurationProblem } from "./configuration.ts";
export { requireEnvironment } from "./service.ts";
export { type EnvironmentRow, findEnvironment } from "./store.ts";
