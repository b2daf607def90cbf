export { presentFoundedOrganization } from "./presenters.ts";
export { CreatedOrganization } from "./schemas.ts";
export { type FoundedOrganization, prepareFounding } from "./service.ts";
