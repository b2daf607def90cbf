import { Conflict } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import type { NotificationKind } from "../../housekeeping/outbox/events.ts";
import type { IntegrationType } from "../../housekeeping/outbox/model.ts";

/** The channel that a Slack installation has chosen. Slack, "oauth.v2.access". */
export interface SlackChannel {
  workspaceId?: string | undefined;
  workspaceName?: string | undefined;
  channelId?: string | undefined;
  channelName?: string | undefined;
}

export const UNCONFIRMED = new Conflict(
  "The Slack installation is not confirmed. Check its channel, and send POST …/confirm.",
);

export const DISABLED = new Conflict(
  "The integration is disabled. Send a PATCH, which may be empty, to enable it.",
);

export const LAPSED = new Conflict(
  "The installation was not confirmed in time. Install Slack again.",
);

export const NO_SECRET = new Conflict("A Slack integration has no secret to rotate.");

export const URL_OF_SLACK =
  "Leave the URL out: the installation sets the URL of a Slack integration.";

export const CONFIRMATION_TTL_MS = LIMITS.slackConfirmationMs.value;

/** Nothing is sent to an integration until it is confirmed. The same rule in SQL: `IS_CONFIRMED`. */
export function isConfirmed(row: { type: IntegrationType; confirmedAt: number | null }): boolean {
  return row.type !== "slack" || row.confirmedAt !== null;
}

/** Per project: each event writes a delivery for every integration of its project. */
export const MAXIMUM_INTEGRATIONS = LIMITS.integrationsPerProject.value;

export const FULL = new Conflict(
  `The project has ${MAXIMUM_INTEGRATIONS} notification integrations, which is the most. ` +
    "Delete one first.",
);

export interface Reference {
  organizationId: string;
  projectId: string;
  id: string;
}

/** Undefined: no change. Null: all. */
export interface Filters {
  environmentIds: readonly string[] | null | undefined;
  stackIds: readonly string[] | null | undefined;
}

export type Configuration = Record<NotificationKind, boolean>;
export type PartialConfiguration = { [Kind in NotificationKind]?: boolean | undefined };
