import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply } from "../../../document/replies.ts";
import { LimitReached } from "../../../lib/errors.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { Alarm, AlarmList } from "./responses.ts";

const operations = {
  listAlarms: {
    tags: ["Alarms"],
    summary: "List the alarms of a stack",
    role: "viewer",
    notFound: ["stack"],
    responses: { 200: jsonReply(AlarmList(), "A page of alarms.") },
  },
  reportAlarm: {
    tags: ["Alarms"],
    summary: "Report the state of an alarm",
    role: "contributor",
    description:
      `Or a runner token whose pool has the stack's environment: the policy is ` +
      "`runner` then, and the response has no `Deployment-Desired`, because it concerns no deployment. " +
      "The first report of a name creates the alarm. A change of state is an event: " +
      "`services.in_alarm` when the alarm starts, also at the first report, and `services.ok` when it " +
      "ends. A report of the same state replaces the reason and is no event.",
    notFound: ["stack"],
    errors: {
      alarm_limit: new LimitReached(QUOTAS.alarms, "alarms"),
    },
    responses: { 200: jsonReply(Alarm(), "The alarm.") },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

const tags = [{ name: "Alarms", description: "The reported health of stacks." }];

export const document: FeatureDocument = { tags, operations };
