import { z } from "@hono/zod-openapi";
import { API_KEY_PATTERN } from "../../../auth/credentials.ts";
import { envelopeOf } from "../../../http/pagination.ts";
import { EXAMPLE_SECRETS } from "../../../lib/example-ids.ts";
import { component, identifierOf, identifiersOf, timestampOf } from "../../../lib/schemas.ts";
import { OrgRole } from "../memberships/index.ts";
import {
  ENVIRONMENTS_MEANING,
  Name,
  PROJECTS_MEANING,
  SCOPES_MEANING,
  ScopeName,
} from "./schemas.ts";

const ROLE =
  "The maximum role of the key. Its effective role is never above its membership's role.";

const KeyActor = component("KeyActor", () =>
  z
    .object({
      key_id: identifierOf("apiKey", "The API key. Absent: by other means.").optional(),
      membership_id: identifierOf("membership", "The membership of that key.").optional(),
    })
    .openapi({ description: "Who created or revoked a key." }),
);

export const ApiKey = component("ApiKey", () =>
  z
    .object({
      id: identifierOf("apiKey", "The key's own ID, which is also a part of the key."),
      org_id: identifierOf("organization", "The only organization that the key can access."),
      membership_id: identifierOf("membership", "The membership that the key acts for."),
      name: Name(),
      role: OrgRole().openapi({ description: ROLE }),
      last_four: z
        .string()
        .openapi({ description: "The last four characters of the key.", example: "uOhD" }),
      scopes: z
        .array(ScopeName())
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
      created_by: KeyActor()
        .openapi({
          description: "What the key descends from. Absent: not known.",
        })
        .optional(),
      created_at: timestampOf("When the key was created."),
      revoked_at: timestampOf("When the key was revoked. Absent: it was not.").optional(),
      revoked_by: KeyActor()
        .openapi({
          description: "Absent: the key is not revoked, or an operator or the service revoked it.",
        })
        .optional(),
    })
    .openapi({
      description:
        "An API key, without the secret itself. Of a revoked key, the fields about its use and about " +
        "what it could access are absent.",
    }),
);

export const ApiKeyList = envelopeOf(ApiKey, "ApiKeyList");

export const CreatedApiKey = component("CreatedApiKey", () =>
  ApiKey()
    .extend({
      key: z.string().regex(API_KEY_PATTERN).openapi({
        description: "The key, shown only once. It cannot be read again: store it now.",
        example: EXAMPLE_SECRETS.apiKey,
      }),
    })
    .openapi({ description: "A new API key. Only this response contains the secret." }),
);

export const ApiKeyPolicy = component("ApiKeyPolicy", () =>
  z
    .object({
      max_age_seconds: z.int().min(0).optional().openapi({
        description: "A new key expires at most this long after it is created. Absent: unlimited.",
        example: 7_776_000,
      }),
    })
    .openapi({ description: "The rules for new API keys of an organization." }),
);
