export { requireEnvironment } from "./service.ts";
export { type EnvironmentRow, findEnvironment } from "./store.ts";
