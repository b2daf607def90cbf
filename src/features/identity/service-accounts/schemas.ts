import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { idParam } from "../../../http/params.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { identifierOf, nameInput, timestampOf } from "../../../lib/schemas.ts";
import { OrgRole } from "../memberships/schemas.ts";
import { NEVER_OWNER, SERVICE_ACCOUNT_ROLES } from "./model.ts";

export const Name = nameInput(LIMITS.nameLength.value).openapi({
  description: "The program that the service account is for.",
  example: "release-bot",
});

const Role = z.enum(SERVICE_ACCOUNT_ROLES, NEVER_OWNER).openapi("ServiceAccountRole", {
  description: "The role in the organization: admin > member.",
});

export const CreateServiceAccount = z
  .strictObject({ name: Name, role: Role })
  .openapi("CreateServiceAccount", {
    description: "The service account to create.",
    example: { name: "release-bot", role: "member" },
  });

export const UpdateServiceAccount = z
  .strictObject({
    name: Name.optional().openapi({ description: "Absent: the name stays." }),
    role: Role.optional().openapi({ description: "Absent: the role stays." }),
  })
  .openapi("UpdateServiceAccount", {
    description: "What a request can change.",
    example: { name: "release-bot-2", role: "member" },
  });

export const ServiceAccountParams = z.object({
  ...idParam("org_id", "organization", "organization"),
  ...idParam("membership_id", "service account", "membership"),
});

export const ServiceAccount = z
  .object({
    membership_id: identifierOf(
      "membership",
      "Its membership. Send it as the `membership_id` of an API key, of a trust, or of a project member.",
    ),
    org_id: identifierOf("organization", "The organization that it belongs to."),
    name: Name,
    role: OrgRole,
    created_at: timestampOf("When the service account was created."),
    updated_at: timestampOf("When its name or its role last changed."),
  })
  .openapi("ServiceAccount", {
    description: "The membership of a program, which has no e-mail address.",
  });

export const ServiceAccountList = envelopeOf(ServiceAccount, "ServiceAccountList");
