export { fanOut, SWEEP_AFTER_MS } from "./fan-out.ts";
