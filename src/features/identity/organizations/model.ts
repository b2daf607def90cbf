import { Unauthorized } from "../../../lib/errors.ts";

export const CREATION_DISABLED = new Unauthorized(
  "This deployment does not let API keys create organizations.",
);

/** What the limit `ownedOrganizations` counts. */
export const OWNED = "organizations that an account owns";

/** What the limit `foundedOrganizations` counts. */
export const FOUNDED = "organizations of the same founder";

/** Of the operation that reads an organization. */
export const ORGANIZATION_PATH = { path: "/v1/orgs/{org_id}" } as const;
