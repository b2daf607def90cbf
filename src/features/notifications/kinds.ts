/** The kinds of notification that an integration switches on and off (spec, "Events"). */
export const KINDS = [
  "deployments_failed",
  "deployments_in_progress",
  "deployments_succeeded",
  "changelog",
  "promotions",
  "services_in_alarm",
  "services_ok",
] as const;
export type Kind = (typeof KINDS)[number];

/** Which kind each type of event is of. A ping is of none: it is sent to whoever asks for it. */
export const KIND_OF = {
  "deployments.in_progress": "deployments_in_progress",
  "deployments.succeeded": "deployments_succeeded",
  "deployments.failed": "deployments_failed",
  "promotions.created": "promotions",
  "services.in_alarm": "services_in_alarm",
  "services.ok": "services_ok",
  "changelog.created": "changelog",
} as const satisfies Record<string, Kind>;
export const PING = "ping";
export const EVENT_TYPES = [PING, ...(Object.keys(KIND_OF) as (keyof typeof KIND_OF)[])] as const;
export type EventType = (typeof EVENT_TYPES)[number];
