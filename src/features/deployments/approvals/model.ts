import { ApiError, Conflict, Unauthorized } from "../../../lib/errors.ts";

export const NEEDS_PERSON = new Unauthorized(
  "Only people approve: this needs a key that the person has made, without scopes, projects and environments, or a " +
    "session from one. A sign-in has all of that.",
);

export const NOT_VERIFIED = new ApiError(
  "forbidden",
  "Sign in with your identity provider to approve: whoever created the deployment also added or invited you, and may have " +
    "your link or key.",
);

export const NOT_QUEUED = "The deployment has started or ended";
export const NO_APPROVALS = new Conflict("No rule of the deployment needs approvals.");
export const OTHER_CONTENT = new Conflict(
  "The deployment would start something else than what the digest is of. Read its configuration again.",
);
export const PATCH_CONFLICT = new Conflict(
  "The patch of the deployment does not apply to the environment's configuration any more. Reject or cancel it.",
);
export const ONLY_OWNERS =
  "Only owners of the organization may override rules, and a freeze also the members whom it names, with a credential of " +
  "their own that is not narrowed.";
export const CHANGING = new Conflict("The deployment keeps changing. Read it again.");
