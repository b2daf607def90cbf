/** What the limit `openInvitations` counts. */
export const OPEN = "open invitations of an organization";

/** From its creation, for the person to open the link. */
export const INVITATION_TTL_MS = 7 * 24 * 3_600_000;

/** Of every invitation: no request changes one. */
export const INVITATION_VERSION = 1;

/** Of the path to a page, where the token follows. */
export const INVITATION_PATH = "/invitations";
