import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../http/pagination.ts";
import { lazy } from "../../lib/lazy.ts";
import { LIMITS } from "../../lib/limits.ts";
import { component, identifierOf, text, timestampOf } from "../../lib/schemas.ts";
import { CreatedApiKey } from "../api-keys/index.ts";

const Name = lazy(() =>
  text(LIMITS.nameLength.value).openapi({
    description: "The display name. It need not be unique.",
    example: "Acme",
  }),
);

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

export const CreateOrganization = component("CreateOrganization", () =>
  z
    .strictObject({ name: Name() })
    .openapi({ description: "The organization to create.", example: { name: "Acme" } }),
);

export const UpdateOrganization = component("UpdateOrganization", () =>
  z.strictObject({ name: Name().optional() }).openapi({
    description: "The fields to change. The others stay as they are.",
    example: { name: "Acme Inc." },
  }),
);

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
