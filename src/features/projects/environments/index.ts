export { findSettingsProblems } from "./executor-settings.ts";
export { type Configuration, configurationProblem, isConfiguration } from "./model.ts";

export { findNeedsProblems, mayHaveNeeds, namesThatNeed } from "./needs.ts";
export { orderDifference } from "./order.ts";
export { presentEnvironment } from "./presenters.ts";
export { requireEnvironment } from "./service.ts";
export {
  type EnvironmentRow,
  type FoundEnvironment,
  findEnvironment,
  raiseVersion,
  selectEnvironment,
} from "./store.ts";
