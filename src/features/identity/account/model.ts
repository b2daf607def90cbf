import { Conflict, Unauthorized } from "../../../lib/errors.ts";

export const SERVICE_ACCOUNT = new Unauthorized(
  "A service account has no person's account. Use a key of the person.",
);

export const LAST_OWNER_OF_SOME = new Conflict(
  "An organization or a project has no other owner, or no other owner's key without an expiration " +
    "date. Make another member its owner, with a key, or delete the project.",
);
