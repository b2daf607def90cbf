export { findComponent } from "./store.ts";
