import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { lazy } from "../../../lib/lazy.ts";
import { component, identifierOf, timestampOf } from "../../../lib/schemas.ts";
import { MEMBER_KINDS, MEMBER_STATUSES } from "../../tenancy/model.ts";
import { OrgRole, PROFILE } from "./schemas.ts";

export const MemberKind = component("MemberKind", () =>
  z.enum(MEMBER_KINDS).openapi({ description: "Whether a member is a person or a program." }),
);

const MemberStatus = component("MemberStatus", () =>
  z.enum(MEMBER_STATUSES).openapi({
    description:
      "A `pending` member has no keys and no projects until the person has signed in with the address, " +
      "and accepted the membership.",
  }),
);

export const Profile = component("Profile", () =>
  z
    .object({
      bio: z.string().optional().openapi({ description: PROFILE.bio }),
      github: z.string().optional().openapi({ description: PROFILE.github }),
      location: z.string().optional().openapi({ description: PROFILE.location }),
      twitter: z.string().optional().openapi({ description: PROFILE.twitter }),
      website: z.string().optional().openapi({ description: PROFILE.website }),
    })
    .openapi({
      description: "What the person tells about themselves. A field that is not set is absent.",
      example: { github: "ada", location: "London" },
    }),
);

/** Of a person, in every resource of a membership. */
export const PERSON = lazy(() => ({
  name: z.string().openapi({ description: "The person's full name.", example: "Ada Lovelace" }),
  display_name: z
    .string()
    .openapi({ description: "What to call the person in lists.", example: "Ada" }),
  avatar: z.string().optional().openapi({
    description: "A URL of an image, or an emoji. Absent: the person has none.",
    example: "https://example.com/ada.png",
  }),
  profile: Profile(),
}));

export const MEMBER_ID = "The `member_id` in the paths.";

export const Member = component("Member", () =>
  z
    .object({
      membership_id: identifierOf("membership", MEMBER_ID),
      account_id: identifierOf(
        "account",
        "The person, in this organization. A person whom several organizations have added has another account in each.",
      ),
      org_id: identifierOf("organization", "The organization that the person is a member of."),
      ...PERSON(),
      role: OrgRole(),
      kind: MemberKind(),
      status: MemberStatus(),
      created_at: timestampOf("When the person became a member."),
    })
    .openapi({ description: "The place of a person or a program in an organization." }),
);

export const MemberList = envelopeOf(Member, "MemberList");
