import { z } from "@hono/zod-openapi";
import { envelopeOf, ListQuery } from "../../http/pagination.ts";
import { idParam } from "../../http/params.ts";
import { LIMITS } from "../../lib/limits.ts";
import { PROJECT_ROLES } from "../../lib/roles.ts";
import {
  EXAMPLE_ID,
  enumFilter,
  Identifier,
  IdentifierInput,
  Timestamp,
} from "../../lib/schemas.ts";
import { OrgRole, Profile } from "../memberships/index.ts";

const MAXIMUM_ADDED = LIMITS.addedMembers.value;

export const ProjectRole = z.enum(PROJECT_ROLES).openapi("ProjectRole", {
  description: "A role in the project: owner > contributor > viewer.",
});

export const ProjectMember = z
  .object({
    membership_id: Identifier.openapi({ description: "The `member_id` in the paths." }),
    account_id: Identifier,
    project_id: Identifier,
    name: z.string().openapi({ example: "Ada Lovelace" }),
    display_name: z.string().openapi({ example: "Ada" }),
    avatar: z.string().optional().openapi({ example: "https://example.com/ada.png" }),
    profile: Profile,
    org_role: OrgRole,
    role: ProjectRole,
    created_at: Timestamp,
  })
  .openapi("ProjectMember");

export const ProjectMemberList = envelopeOf(ProjectMember, "ProjectMemberList");

export const ProjectMemberQuery = ListQuery.extend({
  role: enumFilter(PROJECT_ROLES).openapi({ description: "Only members with one of these roles." }),
});

export const AddProjectMembers = z
  .strictObject({
    member_ids: z
      .array(IdentifierInput)
      .min(1, "Send at least one membership ID.")
      .max(MAXIMUM_ADDED, `Send at most ${MAXIMUM_ADDED} membership IDs.`)
      .superRefine(refuseRepeated)
      .openapi({ description: "Memberships of the organization. All are added or none." }),
    role: ProjectRole.default("viewer").openapi({ description: "Default: `viewer`." }),
  })
  .openapi("AddProjectMembers", {
    example: { member_ids: [EXAMPLE_ID], role: "contributor" },
  });

export const AddedProjectMembers = z
  .array(ProjectMember)
  .openapi("AddedProjectMembers", { description: "In the order of the request." });

export const ReplaceProjectMember = z
  .strictObject({ role: ProjectRole })
  .openapi("ReplaceProjectMember", { example: { role: "contributor" } });

export const ProjectMemberParams = z.object({
  ...idParam("project_id", "project"),
  ...idParam("member_id", "membership"),
});

function refuseRepeated(ids: readonly string[], ctx: z.RefinementCtx): void {
  ids.forEach((id, index) => {
    if (ids.indexOf(id) === index) return;
    ctx.addIssue({ code: "custom", path: [index], message: "Remove this duplicate." });
  });
}
