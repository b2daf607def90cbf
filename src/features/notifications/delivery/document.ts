import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply } from "../../../document/replies.ts";
import { DISABLED, UNCONFIRMED } from "../integrations/index.ts";
import { Delivery, DeliveryInFull, DeliveryList } from "./responses.ts";

const TAGS = ["Deliveries"];

const ENABLED =
  "An integration that is disabled, or a Slack installation that is not confirmed, is a `conflict`.";

const operations = {
  listDeliveries: {
    tags: TAGS,
    summary: "List the deliveries of an integration",
    role: "viewer",
    notFound: ["notification integration"],
    responses: { 200: jsonReply(DeliveryList(), "A page of deliveries.") },
  },
  getDelivery: {
    tags: TAGS,
    summary: "Read a delivery",
    role: "viewer",
    description: `Includes the event and the result of each attempt.`,
    notFound: ["delivery"],
    responses: { 200: jsonReply(DeliveryInFull(), "The delivery.") },
  },
  redeliver: {
    tags: TAGS,
    summary: "Deliver again",
    role: "owner",
    description:
      `${ENABLED} Creates a new delivery of the same event, with the same ` +
      "`webhook-id`, and does not change this one.",
    notFound: ["delivery"],
    errors: {
      integration_disabled: DISABLED,
      integration_unconfirmed: UNCONFIRMED,
    },
    responses: { 201: jsonReply(Delivery(), "The new delivery, pending.") },
  },
  pingIntegration: {
    tags: TAGS,
    summary: "Ping an integration",
    role: "owner",
    description: `${ENABLED} Sends an event of the type \`ping\`, whichever kinds are enabled.`,
    notFound: ["notification integration"],
    errors: {
      integration_disabled: DISABLED,
      integration_unconfirmed: UNCONFIRMED,
    },
    responses: { 201: jsonReply(Delivery(), "The delivery, pending.") },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

const tags = [
  {
    name: "Deliveries",
    description: "The events sent to an integration, and the result of each attempt.",
  },
  {
    name: "Webhooks",
    description:
      "Longshore sends events to a webhook by POST, signed as Standard Webhooks specifies: its " +
      "libraries verify them. The type in the body is one of those below. An event may arrive more " +
      "than once, with the same `webhook-id`, and events may arrive in any order.",
  },
];

export const document: FeatureDocument = { tags, operations };
