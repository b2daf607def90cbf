export type { Directive } from "./directive.ts";
export { DIRECTIVE_HEADER } from "./directive.ts";
export { AttemptConflict, LeaseLost, NOT_STARTED } from "./errors.ts";
export { authenticateLease, type LeaseCredentials } from "./lease.ts";
export { toLeaseCredentials } from "./presenters.ts";
