import { Conflict } from "../../../lib/errors.ts";

export const CHANGED = new Conflict(
  "The service account has just changed. Read it again and retry.",
);

export const OWNS_PROJECT = new Conflict(
  "The service account is the only owner of a project. Make another member owner first.",
);

export const NEVER_OWNER = "Send member or admin: a service account is never an owner.";

/** Never `owner`: a person is responsible for an organization. */
export const SERVICE_ACCOUNT_ROLES = ["member", "admin"] as const;
export type ServiceAccountRole = (typeof SERVICE_ACCOUNT_ROLES)[number];
