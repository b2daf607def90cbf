interface EventDefinition<Kind extends string | undefined> {
  /** A ping has none: it is sent on request. */
  kind: Kind;
  /** Of the Slack message. */
  title: string;
}

function define<const Kind extends string | undefined>(
  definition: EventDefinition<Kind>,
): EventDefinition<Kind> {
  return definition;
}

/** Their bodies are in event-payloads.ts. SQL in the stores of other features writes the data. */
export const EVENTS = {
  ping: define({ kind: undefined, title: "👋 Ping" }),
  "deployments.in_progress": define({
    kind: "deployments_in_progress",
    title: "🚀 Deployment in progress",
  }),
  "deployments.succeeded": define({
    kind: "deployments_succeeded",
    title: "✅ Deployment succeeded",
  }),
  "deployments.failed": define({ kind: "deployments_failed", title: "❌ Deployment failed" }),
  "promotions.created": define({ kind: "promotions", title: "⏫ Promotion" }),
  "services.in_alarm": define({ kind: "services_in_alarm", title: "🚨 Service in alarm" }),
  "services.ok": define({ kind: "services_ok", title: "✅ Service OK" }),
  "changelog.created": define({ kind: "changelog", title: "📝 Change" }),
};

export type EventType = keyof typeof EVENTS;
export const EVENT_TYPES = Object.keys(EVENTS) as [EventType, ...EventType[]];

export type Kind = NonNullable<(typeof EVENTS)[EventType]["kind"]>;

/** In the order in which the API presents the flags. A test verifies that none is missing. */
export const KINDS = [
  "deployments_failed",
  "deployments_in_progress",
  "deployments_succeeded",
  "changelog",
  "promotions",
  "services_in_alarm",
  "services_ok",
] as const satisfies readonly Kind[];
