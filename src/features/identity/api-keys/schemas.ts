import { z } from "@hono/zod-openapi";
import { documented } from "#documented";
import { namedListQuery } from "../../../http/pagination.ts";
import { idParam } from "../../../http/params.ts";
import { lazy } from "../../../lib/lazy.ts";
import { LIMITS } from "../../../lib/limits.ts";
import {
  CHANGED_FIELDS,
  component,
  identifierInput,
  nameInput,
  timestampInput,
} from "../../../lib/schemas.ts";
import { SCOPES } from "../../../lib/scopes.ts";
import { Descendants, OrgRole } from "../memberships/index.ts";
import { KEEP_AT_MOST, KEY_STATUSES } from "./model.ts";
export const SCOPES_MEANING = documented(
  () =>
    "What the key may do at most, within its role. `write` includes `read`. `GET /v1/orgs` needs none.",
);
export const PROJECTS_MEANING = documented(() => "The only projects that the key can access.");
export const ENVIRONMENTS_MEANING = documented(
  () =>
    "The only environments that the key can access. It reads the resources of their projects themselves, " +
    "such as the changelog and the integrations, and cannot change them.",
);
const AS_YOURS = documented(
  () => "Default: as the key that creates it, which cannot give more than it has.",
);
const MAXIMUM_IDS = LIMITS.keyBoundaries.value;

export const ScopeName = component("Scope", () =>
  z
    .enum(SCOPES, "Send a scope, as deployments:write. docs/api-keys.md lists them all.")
    .openapi(documented(() => ({ description: "What an operation needs of a narrowed key." }))),
);

const ApiKeyStatus = component("ApiKeyStatus", () =>
  z.enum(KEY_STATUSES, "Send active or revoked.").openapi(
    documented(() => ({
      description: "`active` lists the keys that exist, expired ones included.",
      default: "active",
    })),
  ),
);

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

const Expiry = lazy(() =>
  timestampInput()
    .nullish()
    .openapi(documented(() => ({ example: "2027-11-21T09:30:00.000Z" }))),
);

export const Name = lazy(() =>
  nameInput(LIMITS.nameLength.value).openapi(
    documented(() => ({
      description: "What the key is for.",
      example: "ci",
    })),
  ),
);

export const CreateApiKey = component("CreateApiKey", () =>
  z
    .strictObject({
      name: Name(),
      membership_id: identifierInput("membership")
        .optional()
        .openapi(
          documented(() => ({
            description: "The membership that the key acts for. Default: your own.",
          })),
        ),
      role: OrgRole()
        .optional()
        .openapi(
          documented(() => ({
            description: "Default: the lower of the membership's role and your key's role.",
          })),
        ),
      scopes: z
        .array(ScopeName())
        .min(1, SCOPE_COUNT)
        .max(SCOPES.length, SCOPE_COUNT)
        .optional()
        .openapi(documented(() => ({ description: `${SCOPES_MEANING} ${AS_YOURS}` }))),
      project_ids: boundary("project")
        .optional()
        .openapi(
          documented(() => ({
            description: `${PROJECTS_MEANING} Default: those of the environments, or as your key.`,
          })),
        ),
      environment_ids: boundary("environment")
        .optional()
        .openapi(documented(() => ({ description: `${ENVIRONMENTS_MEANING} ${AS_YOURS}` }))),
      expires_at: Expiry().openapi(
        documented(() => ({
          description:
            "A time in the future. Default: the expiry of the key that creates it, or the " +
            "organization's maximum age, whichever is earlier.",
        })),
      ),
    })
    .openapi(
      documented(() => ({
        description: "The key to create.",
        example: { name: "ci", role: "member", scopes: ["deployments:write", "environments:read"] },
      })),
    ),
);

const STAYS = documented(() => "Absent: it stays as it is. It cannot be removed.");

export const UpdateApiKey = component("UpdateApiKey", () =>
  z
    .strictObject({
      name: Name().optional(),
      scopes: z
        .array(ScopeName(), KEEP_AT_MOST.scopes)
        .min(1, SCOPE_COUNT)
        .max(SCOPES.length, SCOPE_COUNT)
        .transform((scopes) => [...new Set(scopes)])
        .optional()
        .openapi(documented(() => ({ description: `Some of what the key may do now. ${STAYS}` }))),
      project_ids: boundary("project", KEEP_AT_MOST.project_ids)
        .optional()
        .openapi(
          documented(() => ({
            description: `Some of the projects that the key can access now. ${STAYS}`,
          })),
        ),
      environment_ids: boundary("environment", KEEP_AT_MOST.environment_ids)
        .optional()
        .openapi(
          documented(() => ({
            description:
              `Some of the environments that the key can access now. ${STAYS} A key without ` +
              "`project_ids` gets those of the environments.",
          })),
        ),
      expires_at: timestampInput()
        .optional()
        .openapi(
          documented(() => ({
            description: `A time in the future, before the key expires now. ${STAYS}`,
            example: "2027-11-21T09:30:00.000Z",
          })),
        ),
    })
    .openapi(
      documented(() => ({
        description: CHANGED_FIELDS,
        example: { name: "ci of the shop" },
      })),
    ),
);

export const RotateApiKey = component("RotateApiKey", () =>
  z
    .strictObject({
      overlap_seconds: z
        .int(OVERLAP)
        .min(0, OVERLAP)
        .max(MAXIMUM_OVERLAP, OVERLAP)
        .optional()
        .openapi(
          documented(() => ({
            description: "How long the old key remains valid. Default: 0, it is revoked at once.",
          })),
        ),
      expires_at: Expiry().openapi(
        documented(() => ({
          description: "A time in the future. Default: that of the old key.",
        })),
      ),
    })
    .openapi(
      documented(() => ({
        description: "How to rotate the key.",
        example: { overlap_seconds: 3600 },
      })),
    ),
);

const MaximumAge = lazy(() =>
  z.int(AGE).min(LIMITS.minimumKeyAge.value, AGE).max(LIMITS.maximumKeyAge.value, AGE).nullable(),
);

export const PutApiKeyPolicy = component("PutApiKeyPolicy", () =>
  z
    .strictObject({
      max_age_seconds: MaximumAge().openapi(
        documented(() => ({
          description: "A new key expires at most this long after it is created. Null: unlimited.",
        })),
      ),
    })
    .openapi(
      documented(() => ({
        description: "The rules for new API keys of an organization.",
        example: { max_age_seconds: 7_776_000 },
      })),
    ),
);

export const KeyListQuery = lazy(() =>
  namedListQuery(LIMITS.nameLength.value).extend({
    status: ApiKeyStatus().optional(),
  }),
);

export const RevokeQuery = lazy(() =>
  z.object({
    descendants: Descendants()
      .optional()
      .openapi(
        documented(() => ({
          description:
            "What happens to the family: everything that was made with it, and with that. Required for a key " +
            "that has one, besides sessions and sign-in links, which end with their key.",
        })),
      ),
  }),
);

export const ApiKeyParams = lazy(() =>
  z.object({
    ...idParam("org_id", "organization", "organization"),
    ...idParam("key_id", "API key", "apiKey"),
  }),
);
