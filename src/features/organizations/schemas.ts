import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../http/pagination.ts";
import { LIMITS } from "../../lib/limits.ts";
import { Identifier, Timestamp, text } from "../../lib/schemas.ts";
import { CreatedApiKey } from "../api-keys/index.ts";

const Name = text(LIMITS.nameLength.value).openapi({
  description: "The display name.",
  example: "Acme",
});

export const Organization = z
  .object({ id: Identifier, name: Name, created_at: Timestamp, updated_at: Timestamp })
  .openapi("Organization");

export const OrganizationList = envelopeOf(Organization, "OrganizationList");

export const CreateOrganization = z
  .strictObject({ name: Name })
  .openapi("CreateOrganization", { example: { name: "Acme" } });

export const CreatedOrganization = Organization.extend({
  api_key: CreatedApiKey.openapi({
    description: "The first key of the organization, with the role `owner`. Shown only once.",
  }),
}).openapi("CreatedOrganization");
