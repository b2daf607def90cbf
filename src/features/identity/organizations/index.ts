export { ORGANIZATION_PATH } from "./model.ts";
export { presentCreatedOrganization, presentOrganization } from "./presenters.ts";

export { prepareOrganization } from "./service.ts";
export type { OrganizationWithKey } from "./store.ts";
