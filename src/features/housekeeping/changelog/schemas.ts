import { z } from "@hono/zod-openapi";
import { envelopeOf, ListQuery } from "../../../http/pagination.ts";
import { EXAMPLE_IDS } from "../../../lib/example-ids.ts";
import { CHANGED_TYPES } from "../../../lib/resource-types.ts";
import { identifierOf, timestampOf } from "../../../lib/schemas.ts";
import { actorNameFilter, LONG_FIELD, targetNameFilter, targetsOf } from "../audit/schemas.ts";
import { ACTIONS } from "./model.ts";

export const ChangelogQuery = ListQuery.extend({
  actor_name: actorNameFilter(),
  record_name: targetNameFilter("record"),
});

export const ChangeAction = z
  .enum(ACTIONS)
  .openapi("ChangeAction", { description: "What was done to a resource of a project." });

export const CHANGED = "The changed resource. It may be deleted by now.";

export const CHANGED_ID =
  "The ID of the changed resource. For a project member, that of the membership.";

export const ChangedRecordType = z.enum(CHANGED_TYPES).openapi("ChangedRecordType", {
  description: "The type of a resource that the changelog covers.",
});

const Fields = z.record(z.string(), z.unknown());

export const ChangelogEntry = z
  .object({
    id: identifierOf("changelogEntry", "The entry's own ID; `changelog_id` in events."),
    project_id: identifierOf("project", "The project that was changed."),
    action: ChangeAction,
    record: z
      .object({
        type: ChangedRecordType,
        id: identifierOf("environment", CHANGED_ID),
        name: z.string().optional().openapi({
          description: "The name at the time of the change. Absent if the resource has no name.",
          example: "production",
        }),
      })
      .openapi({
        description: CHANGED,
        example: { type: "environment", id: EXAMPLE_IDS.environment, name: "production" },
      }),
    targets: targetsOf(ChangedRecordType, {
      type: "variable",
      id: EXAMPLE_IDS.variable,
      name: "DATABASE_URL",
    }),
    source: z
      .object({
        id: identifierOf(
          "apiKey",
          "The API key that sent the request, or that the session came from.",
        ),
        name: z.string().optional().openapi({
          description: "What the key is called now. Absent if it has been deleted, or has no name.",
          example: "deploy",
        }),
      })
      .optional()
      .openapi({
        description: "The key that the change was made with. Absent: the service itself.",
        example: { id: EXAMPLE_IDS.apiKey, name: "deploy" },
      }),
    actor: z
      .object({
        name: z.string().optional().openapi({
          description:
            "What the person or the service account is called now. Absent if it has been removed.",
          example: "Mona",
        }),
        account_id: identifierOf("account", "The person who made the change."),
        membership_id: identifierOf("membership", "The person's membership of the organization."),
        key_id: identifierOf("apiKey", "The API key that sent the request."),
      })
      .optional()
      .openapi({ description: "Who made the change. Absent: the service itself." }),
    before: Fields.optional().openapi({
      description:
        `The changed fields, as they were before. Absent for a created resource. ${LONG_FIELD} ` +
        "Entries never contain the values of variables or other secrets.",
      example: { name: "live" },
    }),
    after: Fields.optional().openapi({
      description: "The same fields after the change. Absent for a deleted resource.",
      example: { name: "production" },
    }),
    created_at: timestampOf("When the change was made."),
  })
  .openapi("ChangelogEntry", { description: "One change to one resource of a project." });

export const ChangelogEntryList = envelopeOf(ChangelogEntry, "ChangelogEntryList");
