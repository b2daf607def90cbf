import { z } from "@hono/zod-openapi";
import { envelopeOf, ListQuery } from "../../../http/pagination.ts";
import { EXAMPLE_IDS, EXAMPLE_REQUEST_ID } from "../../../lib/example-ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { sizeOf } from "../../../lib/quantities.ts";
import { AUDITED_ACTIONS, TARGET_TYPES } from "../../../lib/resource-types.ts";
import {
  DeploymentTrigger,
  enumFilter,
  identifierInput,
  identifierOf,
  text,
  timestampInput,
  timestampOf,
} from "../../../lib/schemas.ts";
import { ACTOR_TYPES, OUTCOMES } from "./model.ts";

/** Of the changelog, too. */
export function actorNameFilter() {
  return text(LIMITS.personLength.value).optional().openapi({
    description:
      "Only what those did whose `actor.name` is exactly this; upper and lower case differ. A page may end early.",
  });
}

export function targetNameFilter(field: "target" | "record") {
  return text(LIMITS.variableNameLength.value)
    .optional()
    .openapi({
      description: `Only what was done to those whose \`${field}.name\` is exactly this; upper and lower case differ. A page may end early.`,
    });
}

const Filters = z.object({
  actor: identifierInput("membership").optional().openapi({
    description: "The ID of a membership, or of the credential that was used.",
  }),
  action: enumFilter("AuditAction", AUDITED_ACTIONS).openapi({
    description: "Only these actions. Several are repeated, or separated by commas.",
  }),
  target: identifierInput("variable")
    .optional()
    .openapi({ description: "The ID of the record that was acted on." }),
  project_id: identifierInput("project").optional().openapi({
    description: "Only acts on a project and its records, deleted ones included.",
  }),
  actor_name: actorNameFilter(),
  target_name: targetNameFilter("target"),
  from: timestampInput().optional().openapi({
    format: "date-time",
    description: "Only records of this time and later.",
    example: "2026-11-21T00:00:00Z",
  }),
  to: timestampInput().optional().openapi({
    format: "date-time",
    description: "Only records before this time.",
    example: "2026-11-22T00:00:00Z",
  }),
});

export const AuditQuery = Filters.extend(ListQuery.shape);

export const ExportQuery = Filters.extend({
  after: ListQuery.shape.after.openapi({
    description: "The `cursor` of the last complete line of an earlier export. Absent: the start.",
  }),
});

/** Of the changelog, too. */
export const LONG_FIELD =
  `A field of more than ${sizeOf(LIMITS.recordedFieldBytes.value)} is replaced by its length, in ` +
  "`characters`.";

export const AuditAction = z
  .enum(AUDITED_ACTIONS)
  .openapi("AuditAction", { description: "What was done, by the type of the target." });

export const AuditActorType = z.enum(ACTOR_TYPES).openapi("AuditActorType", {
  description:
    "How the actor authenticated. `operator`: with a script of the installation. `service`: the " +
    "service itself, such as at the end of a time limit.",
});

export const AuditOutcome = z.enum(OUTCOMES).openapi("AuditOutcome", {
  description: "Whether it was done. Of the refused requests, only escalations are recorded.",
});

export const AuditTargetType = z
  .enum(TARGET_TYPES)
  .openapi("AuditTargetType", { description: "The type of the record that was acted on." });

const Fields = z.record(z.string(), z.unknown());

const Creator = z
  .object({
    key_id: identifierOf("apiKey", "The API key that created the credential.").optional(),
    membership_id: identifierOf(
      "membership",
      "The membership that created the credential.",
    ).optional(),
  })
  .openapi({
    description: "Who created the credential. Absent if that is not known.",
    example: { membership_id: EXAMPLE_IDS.membership },
  });

const Actor = z
  .object({
    type: AuditActorType,
    name: z.string().optional().openapi({
      description:
        "What the person, the service account, the runner pool or the trust is called now. Absent if it has been removed, or is none of these.",
      example: "Mona",
    }),
    credential_id: identifierOf(
      "apiKey",
      "The ID of the API key, the runner token, the invitation or the trust.",
    ).optional(),
    membership_id: identifierOf(
      "membership",
      "The membership of the person or the service account.",
    ).optional(),
    account_id: identifierOf("account", "The person. Absent for a program.").optional(),
    pool_id: identifierOf("runnerPool", "The pool of a runner token.").optional(),
    created_by: Creator.optional(),
  })
  .openapi({
    description: "Who did it. IDs remain when the record that they name is deleted.",
    example: {
      type: "api_key",
      name: "Mona",
      credential_id: EXAMPLE_IDS.apiKey,
      membership_id: EXAMPLE_IDS.membership,
      account_id: EXAMPLE_IDS.account,
    },
  });

interface Named {
  type: string;
  id: string;
  name: string;
}

/** The targets of an audit record, or of a changelog entry. */
export function targetsOf<Type extends z.ZodType>(type: Type, example: Named) {
  return z
    .array(
      z.object({
        type,
        id: identifierOf("environment", "The ID of the record, which may be deleted by now."),
        name: z.string().optional().openapi({
          description:
            "The first one's name at the time, and what the others are called now. For a deployment, the short commit hash or the image. Absent if there is none.",
          example: "production",
        }),
        trigger: DeploymentTrigger.optional(),
      }),
    )
    .openapi({
      description:
        "The record that was acted on, then what it is in, as far as that exists: component, deployment, environment, and in the audit log the project.",
      example: [example, { type: "environment", id: EXAMPLE_IDS.environment, name: "production" }],
    });
}

const Source = z
  .object({
    type: AuditActorType,
    id: identifierOf("apiKey", "The credential that was used: `actor.credential_id`.").optional(),
    name: z.string().optional().openapi({
      description:
        "What the API key or the runner token is called now; for a session, the key that it came from. Absent if it has been deleted, or is none of these.",
      example: "deploy",
    }),
  })
  .openapi({
    description: "The credential that it was done with.",
    example: { type: "api_key", id: EXAMPLE_IDS.apiKey, name: "deploy" },
  });

const Target = z
  .object({
    type: AuditTargetType,
    id: identifierOf(
      "variable",
      "The ID of the record. For a project member, that of the membership.",
    ),
    name: z.string().optional().openapi({
      description:
        "The name at the time. Absent if there was none, and for a person whose account was erased.",
      example: "DATABASE_URL",
    }),
  })
  .openapi({
    description: "The record that was acted on. It may be deleted by now.",
    example: { type: "variable", id: EXAMPLE_IDS.variable, name: "DATABASE_URL" },
  });

const Changes = z
  .object({
    before: Fields.optional().openapi({
      description: "The fields before. Absent for a created record.",
      example: { version: 1 },
    }),
    after: Fields.optional().openapi({
      description: "The same fields after. Absent for a deleted record.",
      example: { version: 2 },
    }),
  })
  .openapi({
    description:
      `The changed fields. ${LONG_FIELD} For ` +
      "`variables.revealed`, `after` has the first names of the variables, and their `count`; for " +
      "`variables.written`, as `names`, those that were `created`, `updated` and `deleted`; for " +
      "`project_members.added`, the IDs of the members. Never contains the value of a variable, a secret, or an e-mail address.",
    example: { before: { version: 1 }, after: { version: 2 } },
  });

export const AuditRecord = z
  .object({
    id: identifierOf("auditRecord", "Identifies the act, also in exports."),
    created_at: timestampOf("When it was done."),
    action: AuditAction,
    outcome: AuditOutcome,
    actor: Actor,
    source: Source,
    target: Target,
    targets: targetsOf(AuditTargetType, {
      type: "variable",
      id: EXAMPLE_IDS.variable,
      name: "DATABASE_URL",
    }),
    project_id: identifierOf(
      "project",
      "The project of the target. It may be deleted by now.",
    ).optional(),
    client_address: z.string().optional().openapi({
      description: "The IP address that the request came from.",
      example: "203.0.113.7",
    }),
    user_agent: z
      .string()
      .optional()
      .openapi({
        description: `The first ${LIMITS.userAgentLength.value} characters of the header \`User-Agent\`.`,
        example: "curl/8.10.1",
      }),
    request_id: z.string().optional().openapi({
      description: "The `X-Request-Id` of the response.",
      format: "uuid",
      example: EXAMPLE_REQUEST_ID,
    }),
    changes: Changes.optional(),
  })
  .openapi("AuditRecord", {
    description: "One act: who did what to which record, and from where.",
  });

export const AuditRecordList = envelopeOf(AuditRecord, "AuditRecordList");
