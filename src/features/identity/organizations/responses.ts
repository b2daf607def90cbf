import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { component, identifierOf, timestampOf } from "../../../lib/schemas.ts";
import { CreatedApiKey } from "../api-keys/responses.ts";
import { Name } from "./schemas.ts";

export const Organization = component("Organization", () =>
  z
    .object({
      id: identifierOf("organization", "The `org_id` in the paths."),
      name: Name(),
      created_at: timestampOf("When the organization was created."),
      updated_at: timestampOf("When the organization last changed."),
    })
    .openapi({ description: "A tenant: every project belongs to one organization." }),
);

export const OrganizationList = envelopeOf(Organization, "OrganizationList");

export const CreatedOrganization = component("CreatedOrganization", () =>
  Organization()
    .extend({
      api_key: CreatedApiKey().openapi({
        description:
          "The first key of the organization, with the role `owner`. Its `key` is shown only once: " +
          "store it now.",
      }),
    })
    .openapi({
      description: "A new organization. Only this response contains the secret of its first key.",
    }),
);
