export { presentFoundedOrganization } from "./presenters.ts";
export { CreatedOrganization } from "./schemas.ts";
export { prepareFounding } from "./service.ts";
export type { FoundedOrganization } from "./store.ts";
