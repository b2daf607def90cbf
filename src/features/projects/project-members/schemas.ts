import { z } from "@hono/zod-openapi";
import { envelopeOf, namedListQuery } from "../../../http/pagination.ts";
import { idParam } from "../../../http/params.ts";
import { EXAMPLE_IDS } from "../../../lib/example-ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { PROJECT_ROLES } from "../../../lib/roles.ts";
import { enumFilter, identifierInput, identifierOf, timestampOf } from "../../../lib/schemas.ts";
import { MEMBER_ID, OrgRole, PERSON } from "../../identity/memberships/schemas.ts";

const MAXIMUM_ADDED = LIMITS.addedMembers.value;

export const ProjectRole = z.enum(PROJECT_ROLES).openapi("ProjectRole", {
  description: "A role in the project: owner > contributor > viewer.",
});

export const ProjectMemberQuery = namedListQuery(LIMITS.personLength.value).extend({
  role: enumFilter("ProjectRole", PROJECT_ROLES).openapi({
    description: "Only members with one of these roles. Default: all.",
  }),
});

export const AddProjectMembers = z
  .strictObject({
    member_ids: z
      .array(identifierInput("membership"))
      .min(1, "Send at least one membership ID.")
      .max(MAXIMUM_ADDED, `Send at most ${MAXIMUM_ADDED} membership IDs.`)
      .superRefine(refuseRepeated)
      .openapi({
        description: "The `membership_id`s of members of the organization. All are added or none.",
      }),
    role: ProjectRole.default("viewer").openapi({
      description: "The role of every added member. Default: `viewer`.",
    }),
  })
  .openapi("AddProjectMembers", {
    description: "The members to add.",
    example: { member_ids: [EXAMPLE_IDS.membership], role: "contributor" },
  });

export const ReplaceProjectMember = z
  .strictObject({
    role: ProjectRole.openapi({ description: "The new role in the project." }),
  })
  .openapi("ReplaceProjectMember", {
    description: "What a request can change.",
    example: { role: "contributor" },
  });

export const ProjectMemberParams = z.object({
  ...idParam("project_id", "project", "project"),
  ...idParam("member_id", "membership", "membership"),
});

function refuseRepeated(ids: readonly string[], ctx: z.RefinementCtx): void {
  const seen = new Set<string>();
  ids.forEach((id, index) => {
    if (seen.has(id)) {
      ctx.addIssue({ code: "custom", path: [index], message: "Remove this duplicate." });
    }
    seen.add(id);
  });
}

export const ProjectMember = z
  .object({
    membership_id: identifierOf("membership", MEMBER_ID),
    account_id: identifierOf("account", "The person, in every organization and project."),
    project_id: identifierOf("project", "The project that the role is for."),
    ...PERSON,
    org_role: OrgRole.openapi({
      description: "The role in the organization. An admin may do everything in its projects.",
    }),
    role: ProjectRole,
    created_at: timestampOf("When the member was added to the project."),
  })
  .openapi("ProjectMember", {
    description: "A member of the organization, with a role in one project.",
  });

export const ProjectMemberList = envelopeOf(ProjectMember, "ProjectMemberList");

export const AddedProjectMembers = z
  .array(ProjectMember)
  .openapi("AddedProjectMembers", { description: "In the order of the request." });
