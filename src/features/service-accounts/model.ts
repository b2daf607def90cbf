/** Never `owner`: a person is responsible for an organization. */
export const SERVICE_ACCOUNT_ROLES = ["member", "admin"] as const;
export type ServiceAccountRole = (typeof SERVICE_ACCOUNT_ROLES)[number];
