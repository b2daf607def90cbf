import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { CHANGED_FIELDS, identifierOf, nameInput, timestampOf } from "../../../lib/schemas.ts";
import { CreatedApiKey } from "../api-keys/schemas.ts";

export const Name = nameInput(LIMITS.nameLength.value).openapi({
  description: "The display name. It need not be unique.",
  example: "Acme",
});

export const CreateOrganization = z.strictObject({ name: Name }).openapi("CreateOrganization", {
  description: "The organization to create.",
  example: { name: "Acme" },
});

export const UpdateOrganization = z
  .strictObject({ name: Name.optional() })
  .openapi("UpdateOrganization", {
    description: CHANGED_FIELDS,
    example: { name: "Acme Inc." },
  });

export const Organization = z
  .object({
    id: identifierOf("organization", "The `org_id` in the paths."),
    name: Name,
    created_at: timestampOf("When the organization was created."),
    updated_at: timestampOf("When the organization last changed."),
  })
  .openapi("Organization", { description: "A tenant: every project belongs to one organization." });

export const OrganizationList = envelopeOf(Organization, "OrganizationList");

export const CreatedOrganization = Organization.extend({
  api_key: CreatedApiKey.openapi({
    description:
      "The first key of the organization, with the role `owner`. Its `key` is shown only once: " +
      "store it now.",
  }),
}).openapi("CreatedOrganization", {
  description: "A new organization. Only this response contains the secret of its first key.",
});
