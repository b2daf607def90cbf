/** Of the operation that reads an organization. */
export const ORGANIZATION_PATH = { path: "/v1/orgs/{org_id}" } as const;
