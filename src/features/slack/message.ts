import type { EventType } from "../events/index.ts";

/** An event, as webhooks get it. */
interface Payload {
  id: string;
  type: EventType;
  timestamp: string;
  data: unknown;
}

/** An event as a message for a channel. */
export function toSlackMessage(payload: Payload): { text: string; blocks: object[] } {
  const text = payload.type;
  return { text, blocks: [{ type: "section", text: { type: "plain_text", text } }] };
}
