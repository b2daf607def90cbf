import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { component, identifierOf, timestampOf } from "../../../lib/schemas.ts";
import { OrgRole } from "../../identity/memberships/index.ts";
import { MEMBER_ID, PERSON } from "../../identity/memberships/responses.ts";
import { ProjectRole } from "./schemas.ts";

export const ProjectMember = component("ProjectMember", () =>
  z
    .object({
      membership_id: identifierOf("membership", MEMBER_ID),
      account_id: identifierOf("account", "The person, in every organization and project."),
      project_id: identifierOf("project", "The project that the role is for."),
      ...PERSON(),
      org_role: OrgRole().openapi({
        description: "The role in the organization. An admin may do everything in its projects.",
      }),
      role: ProjectRole(),
      created_at: timestampOf("When the member was added to the project."),
    })
    .openapi({ description: "A member of the organization, with a role in one project." }),
);

export const ProjectMemberList = envelopeOf(ProjectMember, "ProjectMemberList");

export const AddedProjectMembers = component("AddedProjectMembers", () =>
  z.array(ProjectMember()).openapi({ description: "In the order of the request." }),
);
