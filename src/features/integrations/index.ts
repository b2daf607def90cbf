export { DISABLED_REASONS, type DisabledReason } from "./kinds.ts";
export { placeOfSecret, placeOfUrl } from "./place.ts";
export { targetProblem } from "./target.ts";
