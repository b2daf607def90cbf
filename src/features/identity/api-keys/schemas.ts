import { z } from "@hono/zod-openapi";
import { API_KEY_PATTERN } from "../../../auth/credentials.ts";
import { envelopeOf, namedListQuery } from "../../../http/pagination.ts";
import { idParam } from "../../../http/params.ts";
import { EXAMPLE_SECRETS } from "../../../lib/example-ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import {
  CHANGED_FIELDS,
  identifierInput,
  identifierOf,
  identifiersOf,
  nameInput,
  timestampInput,
  timestampOf,
} from "../../../lib/schemas.ts";
import { SCOPES } from "../../../lib/scopes.ts";
import { KEY_OWNER_TYPES } from "../credentials/index.ts";
import { Descendants, OrgRole } from "../memberships/schemas.ts";
import { KEEP_AT_MOST, KEY_STATUSES } from "./model.ts";

export const SCOPES_MEANING =
  "What the key may do at most, within its role. `write` includes `read`. `GET /v1/orgs` needs none.";
export const PROJECTS_MEANING = "The only projects that the key can access.";
export const ENVIRONMENTS_MEANING =
  "The only environments that the key can access. It reads the resources of their projects themselves, " +
  "such as the changelog and the integrations, and cannot change them.";
const AS_YOURS = "Default: as the key that creates it, which cannot give more than it has.";
const MAXIMUM_IDS = LIMITS.keyBoundaries.value;

export const ScopeName = z
  .enum(SCOPES, "Send a scope, as deployments:write. docs/api-keys.md lists them all.")
  .openapi("Scope", { description: "What an operation needs of a narrowed key." });

const ApiKeyStatus = z.enum(KEY_STATUSES, "Send active or revoked.").openapi("ApiKeyStatus", {
  description: "`active` lists the keys that exist, expired ones included.",
  default: "active",
});

/** The checksum is wrong, so that the service refuses it. */
function boundary(kind: "project" | "environment", error?: string) {
  const message = `Send 1 to ${MAXIMUM_IDS} identifiers.`;
  return z
    .array(identifierInput(kind), error)
    .min(1, message)
    .max(MAXIMUM_IDS, message)
    .transform((ids) => [...new Set(ids)]);
}

export const SCOPE_COUNT = `Send 1 to ${SCOPES.length} scopes.`;
const MAXIMUM_OVERLAP = LIMITS.keyOverlap.value;
const OVERLAP = `Send a whole number of seconds from 0 to ${MAXIMUM_OVERLAP}.`;
const AGE =
  `Send a whole number of seconds from ${LIMITS.minimumKeyAge.value} to ` +
  `${LIMITS.maximumKeyAge.value}, or null.`;

const Expiry = timestampInput().nullish().openapi({ example: "2027-11-21T09:30:00.000Z" });

export const Name = nameInput(LIMITS.nameLength.value).openapi({
  description: "What the key is for.",
  example: "ci",
});

export const CreateApiKey = z
  .strictObject({
    name: Name,
    membership_id: identifierInput("membership").optional().openapi({
      description: "The membership that the key acts for. Default: your own.",
    }),
    role: OrgRole.optional().openapi({
      description: "Default: the lower of the membership's role and your key's role.",
    }),
    scopes: z
      .array(ScopeName)
      .min(1, SCOPE_COUNT)
      .max(SCOPES.length, SCOPE_COUNT)
      .optional()
      .openapi({ description: `${SCOPES_MEANING} ${AS_YOURS}` }),
    project_ids: boundary("project")
      .optional()
      .openapi({
        description: `${PROJECTS_MEANING} Default: those of the environments, or as your key.`,
      }),
    environment_ids: boundary("environment")
      .optional()
      .openapi({ description: `${ENVIRONMENTS_MEANING} ${AS_YOURS}` }),
    expires_at: Expiry.openapi({
      description:
        "A time in the future. Default: the expiry of the key that creates it, or the " +
        "organization's maximum age, whichever is earlier.",
    }),
  })
  .openapi("CreateApiKey", {
    description: "The key to create.",
    example: { name: "ci", role: "member", scopes: ["deployments:write", "environments:read"] },
  });

const STAYS = "Absent: it stays as it is. It cannot be removed.";

export const UpdateApiKey = z
  .strictObject({
    name: Name.optional(),
    scopes: z
      .array(ScopeName, KEEP_AT_MOST.scopes)
      .min(1, SCOPE_COUNT)
      .max(SCOPES.length, SCOPE_COUNT)
      .transform((scopes) => [...new Set(scopes)])
      .optional()
      .openapi({ description: `Some of what the key may do now. ${STAYS}` }),
    project_ids: boundary("project", KEEP_AT_MOST.project_ids)
      .optional()
      .openapi({
        description: `Some of the projects that the key can access now. ${STAYS}`,
      }),
    environment_ids: boundary("environment", KEEP_AT_MOST.environment_ids)
      .optional()
      .openapi({
        description:
          `Some of the environments that the key can access now. ${STAYS} A key without ` +
          "`project_ids` gets those of the environments.",
      }),
    expires_at: timestampInput()
      .optional()
      .openapi({
        description: `A time in the future, before the key expires now. ${STAYS}`,
        example: "2027-11-21T09:30:00.000Z",
      }),
  })
  .openapi("UpdateApiKey", {
    description: CHANGED_FIELDS,
    example: { name: "ci of the shop" },
  });

export const RotateApiKey = z
  .strictObject({
    overlap_seconds: z
      .int(OVERLAP)
      .min(0, OVERLAP)
      .max(MAXIMUM_OVERLAP, OVERLAP)
      .optional()
      .openapi({
        description: "How long the old key remains valid. Default: 0, it is revoked at once.",
      }),
    expires_at: Expiry.openapi({
      description: "A time in the future. Default: that of the old key.",
    }),
  })
  .openapi("RotateApiKey", {
    description: "How to rotate the key.",
    example: { overlap_seconds: 3600 },
  });

const MaximumAge = z
  .int(AGE)
  .min(LIMITS.minimumKeyAge.value, AGE)
  .max(LIMITS.maximumKeyAge.value, AGE)
  .nullable();

export const PutApiKeyPolicy = z
  .strictObject({
    max_age_seconds: MaximumAge.openapi({
      description: "A new key expires at most this long after it is created. Null: unlimited.",
    }),
  })
  .openapi("PutApiKeyPolicy", {
    description: "The rules for new API keys of an organization.",
    example: { max_age_seconds: 7_776_000 },
  });

export const KeyListQuery = namedListQuery(LIMITS.nameLength.value).extend({
  status: ApiKeyStatus.optional(),
});

export const RevokeQuery = z.object({
  descendants: Descendants.optional().openapi({
    description:
      "What happens to the family: everything that was made with it, and with that. Required for a key " +
      "that has one, besides sessions and sign-in links, which end with their key.",
  }),
});

export const ApiKeyParams = z.object({
  ...idParam("org_id", "organization", "organization"),
  ...idParam("key_id", "API key", "apiKey"),
});

const ROLE =
  "The maximum role of the key. Its effective role is never above its membership's role.";

export const KeyOwner = z
  .object({
    type: z.enum(KEY_OWNER_TYPES).openapi("KeyOwnerType", {
      description: "`ci`: a CI job, which got the key from a trust.",
    }),
    name: z.string().openapi({
      description: "What the person, the service account or the trust is called now.",
      example: "Mona",
    }),
    trust_id: identifierOf("trust", "For `ci`: the trust.").optional(),
  })
  .openapi("KeyOwner", { description: "Who acts with a credential." });

const KeyActor = z
  .object({
    key_id: identifierOf("apiKey", "The API key. Absent: by other means.").optional(),
    membership_id: identifierOf("membership", "The membership of that key.").optional(),
  })
  .openapi("KeyActor", { description: "Who created or revoked a key." });

export const ApiKey = z
  .object({
    id: identifierOf("apiKey", "The key's own ID, which is also a part of the key."),
    org_id: identifierOf("organization", "The only organization that the key can access."),
    membership_id: identifierOf("membership", "The membership that the key acts for."),
    owner: KeyOwner.openapi({
      description:
        "Whose key it is. Absent if the member has been removed, and in responses that show the key for the " +
        "first time together with an organization or a membership.",
    }).optional(),
    name: Name,
    role: OrgRole.openapi({ description: ROLE }),
    last_four: z
      .string()
      .openapi({ description: "The last four characters of the key.", example: "uOhD" }),
    scopes: z
      .array(ScopeName)
      .optional()
      .openapi({ description: `${SCOPES_MEANING} Absent: all scopes.` }),
    project_ids: identifiersOf("project")
      .optional()
      .openapi({ description: `${PROJECTS_MEANING} Absent: all projects.` }),
    environment_ids: identifiersOf("environment")
      .optional()
      .openapi({ description: `${ENVIRONMENTS_MEANING} Absent: all environments.` }),
    expires_at: timestampOf(
      "The key is rejected from this time on. Absent: the key does not expire.",
    ).optional(),
    last_used_at: timestampOf(
      "The time of the last use, to the hour. Absent: the key was never used.",
    ).optional(),
    created_by: KeyActor.openapi({
      description: "What the key descends from. Absent: not known.",
    }).optional(),
    created_at: timestampOf("When the key was created."),
    revoked_at: timestampOf("When the key was revoked. Absent: it was not.").optional(),
    revoked_by: KeyActor.openapi({
      description: "Absent: the key is not revoked, or an operator or the service revoked it.",
    }).optional(),
  })
  .openapi("ApiKey", {
    description:
      "An API key, without the secret itself. Of a revoked key, the fields about its use and about " +
      "what it could access are absent.",
  });

export const ApiKeyList = envelopeOf(ApiKey, "ApiKeyList");

export const CreatedApiKey = ApiKey.extend({
  key: z.string().regex(API_KEY_PATTERN).openapi({
    description: "The key, shown only once. It cannot be read again: store it now.",
    example: EXAMPLE_SECRETS.apiKey,
  }),
}).openapi("CreatedApiKey", {
  description: "A new API key. Only this response contains the secret.",
});

export const ApiKeyPolicy = z
  .object({
    max_age_seconds: z.int().min(0).optional().openapi({
      description: "A new key expires at most this long after it is created. Absent: unlimited.",
      example: 7_776_000,
    }),
  })
  .openapi("ApiKeyPolicy", { description: "The rules for new API keys of an organization." });
