import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { component, identifierOf, timestampOf } from "../../../lib/schemas.ts";
import { OrgRole } from "../memberships/index.ts";
import { Name } from "./schemas.ts";

export const ServiceAccount = component("ServiceAccount", () =>
  z
    .object({
      membership_id: identifierOf(
        "membership",
        "Its membership. Send it as the `membership_id` of an API key, of a trust, or of a project member.",
      ),
      org_id: identifierOf("organization", "The organization that it belongs to."),
      name: Name(),
      role: OrgRole(),
      created_at: timestampOf("When the service account was created."),
      updated_at: timestampOf("When its name or its role last changed."),
    })
    .openapi({ description: "The membership of a program, which has no e-mail address." }),
);

export const ServiceAccountList = envelopeOf(ServiceAccount, "ServiceAccountList");
