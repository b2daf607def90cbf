export { type Configuration, configurationProblem, isConfiguration } from "./configuration.ts";
export { requireEnvironment } from "./service.ts";
export { type EnvironmentRow, findEnvironment } from "./store.ts";
