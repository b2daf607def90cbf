export { presentCreatedOrganization } from "./presenters.ts";
export { CreatedOrganization } from "./schemas.ts";
export { prepareOrganization } from "./service.ts";
export type { OrganizationWithKey } from "./store.ts";
