export { requireComponent } from "./service.ts";
export { type ComponentRow, findComponent } from "./store.ts";
