export { SWEEP_AFTER_MS, writeOutbox } from "./fan-out.ts";
