import { z } from "@hono/zod-openapi";
import { API_KEY_PATTERN } from "../../auth/credentials.ts";
import { envelopeOf } from "../../http/pagination.ts";
import { idParam } from "../../http/params.ts";
import { LIMITS } from "../../lib/limits.ts";
import { Identifier, IdentifierInput, Timestamp, text, timestampInput } from "../../lib/schemas.ts";
import { OrgRole } from "../memberships/index.ts";

const ROLE =
  "The maximum role of the key. Its effective role is never above its membership's role.";
const Name = text(LIMITS.nameLength.value).openapi({
  description: "What the key is for.",
  example: "ci",
});

export const ApiKey = z
  .object({
    id: Identifier,
    org_id: Identifier,
    membership_id: Identifier.openapi({ description: "The membership that the key belongs to." }),
    name: Name,
    role: OrgRole.openapi({ description: ROLE }),
    last_four: z
      .string()
      .openapi({ description: "The last four characters of the key.", example: "uOhD" }),
    expires_at: Timestamp.optional().openapi({
      description: "The key is rejected from this time on.",
    }),
    last_used_at: Timestamp.optional().openapi({
      description: "The time of the last use, to the hour.",
    }),
    created_at: Timestamp,
  })
  .openapi("ApiKey");

export const ApiKeyList = envelopeOf(ApiKey, "ApiKeyList");

export const CreatedApiKey = ApiKey.extend({
  key: z.string().regex(API_KEY_PATTERN).openapi({
    description: "The key, shown only once. It cannot be read again: store it now.",
    example: "lsh_1C4dSLTQ9wKmCkmG3EtMZp_8aspm4G7VmSUfOoD6V1vrORcmn0iSHkpEby6vK111fY0yuOhD",
  }),
}).openapi("CreatedApiKey");

export const CreateApiKey = z
  .strictObject({
    name: Name,
    membership_id: IdentifierInput.optional().openapi({
      description: "The membership that the key belongs to. Default: your own.",
    }),
    role: OrgRole.optional().openapi({
      description: "Default: the lower of the membership's role and your key's role.",
    }),
    expires_at: timestampInput()
      .nullish()
      .openapi({ description: "A time in the future. Absent: the key does not expire." }),
  })
  .openapi("CreateApiKey", { example: { name: "ci", role: "member" } });

export const ApiKeyParams = z.object({
  ...idParam("org_id", "organization"),
  ...idParam("key_id", "API key"),
});
