import { z } from "@hono/zod-openapi";
import { API_KEY_PATTERN } from "../../auth/credentials.ts";
import { envelopeOf } from "../../http/pagination.ts";
import { idParam } from "../../http/params.ts";
import { EXAMPLE_IDS } from "../../lib/example-ids.ts";
import { LIMITS } from "../../lib/limits.ts";
import {
  component,
  identifierInput,
  identifierOf,
  text,
  timestampInput,
  timestampOf,
} from "../../lib/schemas.ts";
import { OrgRole } from "../memberships/index.ts";

const ROLE =
  "The maximum role of the key. Its effective role is never above its membership's role.";
const Name = text(LIMITS.nameLength.value).openapi({
  description: "What the key is for.",
  example: "ci",
});

export const ApiKey = component(
  "ApiKey",
  z
    .object({
      id: identifierOf("apiKey", "The key's own ID, which is also a part of the key."),
      org_id: identifierOf("organization", "The only organization that the key can access."),
      membership_id: identifierOf("membership", "The membership that the key acts for."),
      name: Name,
      role: OrgRole.openapi({ description: ROLE }),
      last_four: z
        .string()
        .openapi({ description: "The last four characters of the key.", example: "uOhD" }),
      expires_at: timestampOf(
        "The key is rejected from this time on. Absent: the key does not expire.",
      ).optional(),
      last_used_at: timestampOf(
        "The time of the last use, to the hour. Absent: the key was never used.",
      ).optional(),
      created_at: timestampOf("When the key was created."),
    })
    .openapi({ description: "An API key, without the secret itself." }),
);

export const ApiKeyList = envelopeOf(ApiKey, "ApiKeyList");

export const CreatedApiKey = component(
  "CreatedApiKey",
  ApiKey.extend({
    key: z
      .string()
      .regex(API_KEY_PATTERN)
      .openapi({
        description: "The key, shown only once. It cannot be read again: store it now.",
        example: `lsh_${EXAMPLE_IDS.apiKey}_8aspm4G7VmSUfOoD6V1vrORcmn0iSHkpEby6vK111fY0yuOhD`,
      }),
  }).openapi({ description: "A new API key. Only this response contains the secret." }),
);

export const CreateApiKey = component(
  "CreateApiKey",
  z
    .strictObject({
      name: Name,
      membership_id: identifierInput("membership").optional().openapi({
        description: "The membership that the key acts for. Default: your own.",
      }),
      role: OrgRole.optional().openapi({
        description: "Default: the lower of the membership's role and your key's role.",
      }),
      expires_at: timestampInput().nullish().openapi({
        description: "A time in the future. Absent or null: the key does not expire.",
        example: "2027-11-21T09:30:00.000Z",
      }),
    })
    .openapi({
      description: "The key to create.",
      example: { name: "ci", role: "member" },
    }),
);

export const ApiKeyParams = z.object({
  ...idParam("org_id", "organization", "organization"),
  ...idParam("key_id", "API key", "apiKey"),
});
