export { findSettingsProblems } from "./executor-settings.ts";
export { type Configuration, configurationProblem, isConfiguration } from "./model.ts";

export { requireEnvironment } from "./service.ts";
export { type EnvironmentRow, type FoundEnvironment, findEnvironment } from "./store.ts";
