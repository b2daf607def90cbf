import { Conflict } from "../../../lib/errors.ts";

export const EXISTING_MEMBER = new Conflict(
  "One of the memberships is already in the project; none was added.",
);

export const LAST_OWNER = new Conflict(
  "A project needs at least one owner. Make another member owner first.",
);
