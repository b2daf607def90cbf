export { type Configuration, configurationProblem, isConfiguration } from "./model.ts";
export { Environment } from "./schemas.ts";
export { requireEnvironment } from "./service.ts";
export { type EnvironmentRow, findEnvironment } from "./store.ts";
