import { z } from "@hono/zod-openapi";
import { documented, EXAMPLE_IDS } from "#documented";
import { namedListQuery } from "../../../http/pagination.ts";
import { idParam } from "../../../http/params.ts";
import { lazy } from "../../../lib/lazy.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { PROJECT_ROLES } from "../../../lib/roles.ts";
import { component, enumFilter, identifierInput } from "../../../lib/schemas.ts";

const MAXIMUM_ADDED = LIMITS.addedMembers.value;

export const ProjectRole = component("ProjectRole", () =>
  z.enum(PROJECT_ROLES).openapi(
    documented(() => ({
      description: "A role in the project: owner > contributor > viewer.",
    })),
  ),
);

export const ProjectMemberQuery = lazy(() =>
  namedListQuery(LIMITS.personLength.value).extend({
    role: enumFilter("ProjectRole", PROJECT_ROLES).openapi(
      documented(() => ({
        description: "Only members with one of these roles. Default: all.",
      })),
    ),
  }),
);

export const AddProjectMembers = component("AddProjectMembers", () =>
  z
    .strictObject({
      member_ids: z
        .array(identifierInput("membership"))
        .min(1, "Send at least one membership ID.")
        .max(MAXIMUM_ADDED, `Send at most ${MAXIMUM_ADDED} membership IDs.`)
        .superRefine(refuseRepeated)
        .openapi(
          documented(() => ({
            description:
              "The `membership_id`s of members of the organization. All are added or none.",
          })),
        ),
      role: ProjectRole()
        .default("viewer")
        .openapi(
          documented(() => ({
            description: "The role of every added member. Default: `viewer`.",
          })),
        ),
    })
    .openapi(
      documented(() => ({
        description: "The members to add.",
        example: { member_ids: [EXAMPLE_IDS.membership], role: "contributor" },
      })),
    ),
);

export const ReplaceProjectMember = component("ReplaceProjectMember", () =>
  z
    .strictObject({
      role: ProjectRole().openapi(
        documented(() => ({ description: "The new role in the project." })),
      ),
    })
    .openapi(
      documented(() => ({
        description: "What a request can change.",
        example: { role: "contributor" },
      })),
    ),
);

export const ProjectMemberParams = lazy(() =>
  z.object({
    ...idParam("project_id", "project", "project"),
    ...idParam("member_id", "membership", "membership"),
  }),
);

function refuseRepeated(ids: readonly string[], ctx: z.RefinementCtx): void {
  const seen = new Set<string>();
  ids.forEach((id, index) => {
    if (seen.has(id)) {
      ctx.addIssue({ code: "custom", path: [index], message: "Remove this duplicate." });
    }
    seen.add(id);
  });
}
