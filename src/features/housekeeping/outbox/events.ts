export interface EventDefinition {
  /** The flag of an integration that receives it. A ping has none: it is sent on request. */
  kind: string | undefined;
  icon: string;
  /** Of the Slack message, and of the flag in the console unless that has another one. */
  title: string;
  /** The title of a flag that several events have. The first of them has it. */
  flagTitle?: string;
}

/**
 * In the order in which people see them. Their bodies are in event-payloads.ts. What writes
 * them: `write-events.ts` of deployments, approvals and freezes, `write.ts` of the changelog, and the stores of alarms
 * and integrations.
 */
export const EVENTS = {
  ping: { kind: undefined, icon: "👋", title: "Ping" },
  "deployments.in_progress": {
    kind: "deployments_in_progress",
    icon: "🚀",
    title: "Deployment in progress",
  },
  "deployments.succeeded": {
    kind: "deployments_succeeded",
    icon: "✅",
    title: "Deployment succeeded",
  },
  "deployments.failed": { kind: "deployments_failed", icon: "❌", title: "Deployment failed" },
  "promotions.created": {
    kind: "promotions",
    icon: "⏫",
    title: "Promotion",
    flagTitle: "Promotions, approvals and freezes",
  },
  "approvals.requested": { kind: "promotions", icon: "🙋", title: "Approval requested" },
  "approvals.given": { kind: "promotions", icon: "👍", title: "Deployment approved" },
  "approvals.rejected": { kind: "promotions", icon: "👎", title: "Deployment rejected" },
  "deployments.overridden": { kind: "promotions", icon: "⚠️", title: "Rules overridden" },
  "freezes.created": { kind: "promotions", icon: "🧊", title: "Freeze" },
  "freezes.deleted": { kind: "promotions", icon: "🫠", title: "Freeze deleted" },
  "services.in_alarm": { kind: "services_in_alarm", icon: "🚨", title: "Service in alarm" },
  "services.ok": { kind: "services_ok", icon: "✅", title: "Service OK" },
  "changelog.created": { kind: "changelog", icon: "📝", title: "Change" },
} as const satisfies Record<string, EventDefinition>;

export type EventType = keyof typeof EVENTS;
export const EVENT_TYPES = Object.keys(EVENTS) as [EventType, ...EventType[]];

export type NotificationKind = Extract<(typeof EVENTS)[EventType], { kind: string }>["kind"];

const sortKey = (kind: NotificationKind) => kind.replace("deployments_", " ");

/** In the order in which the API presents the flags: those of deployments first, then by name. */
export const NOTIFICATION_KINDS: readonly NotificationKind[] = [
  ...new Set(Object.values(EVENTS).flatMap(({ kind }) => kind ?? [])),
].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
