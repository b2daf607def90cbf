import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { idParam } from "../../../http/params.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { ORG_ROLES } from "../../../lib/roles.ts";
import {
  clearable,
  identifierOf,
  nameInput,
  paragraphs,
  text,
  timestampOf,
} from "../../../lib/schemas.ts";
import { EMAIL } from "../../../lib/text-patterns.ts";
import { MEMBER_KINDS, MEMBER_STATUSES } from "../../tenancy/model.ts";
import { DESCENDANTS_OPTIONS } from "../credentials/model.ts";

const LINE = LIMITS.personLength.value;
const BIO = LIMITS.descriptionLength.value;
const URL_LENGTH = LIMITS.urlLength.value;

export const OrgRole = z
  .enum(ORG_ROLES)
  .openapi("OrgRole", { description: "A role in the organization: owner > admin > member." });

export const PROFILE = {
  bio: "Some lines about the person.",
  github: "The user name at GitHub.",
  location: "Where the person is, as free text.",
  twitter: "The user name at Twitter.",
  website: "The address of the person's own pages.",
};

export const ProfileInput = z
  .strictObject({
    bio: paragraphs(BIO).nullish().openapi({ description: PROFILE.bio }),
    github: text(LINE).nullish().openapi({ description: PROFILE.github }),
    location: text(LINE).nullish().openapi({ description: PROFILE.location }),
    twitter: text(LINE).nullish().openapi({ description: PROFILE.twitter }),
    website: text(URL_LENGTH).nullish().openapi({ description: PROFILE.website }),
  })
  .openapi("ProfileInput", {
    description: "What the person tells about themselves. Absent or null: not set.",
    example: { github: "ada", location: "London" },
  });

const INVALID_EMAIL =
  "Send an e-mail address. Write a domain in another script in punycode, as user@xn--80a1acny.xn--p1ai.";

export const Email = z
  .email({ pattern: EMAIL, error: INVALID_EMAIL })
  .max(LIMITS.emailLength.value, `Send at most ${LIMITS.emailLength.value} characters.`)
  .transform((email) => email.toLowerCase());

const ACCOUNT = {
  email: Email.openapi({
    description:
      "The person's address, in any case. Private: only the person's own account shows it.",
    pattern: EMAIL.source,
    example: "ada@example.com",
  }),
  name: nameInput(LINE).openapi({
    description: "The person's full name.",
    example: "Ada Lovelace",
  }),
  display_name: clearable(nameInput(LINE)).openapi({
    description: "What to call the person in lists. Absent or null: the full name.",
    example: "Ada",
  }),
  avatar: clearable(text(URL_LENGTH)).openapi({
    description: "A URL of an image, or an emoji. Absent or null: none.",
  }),
  profile: z.union([ProfileInput, z.null()]).optional().openapi({
    description: "What the person tells about themselves. Absent or null: nothing.",
  }),
};

export const AccountInput = z.strictObject(ACCOUNT).openapi("AccountInput", {
  description: "A person, who may join several organizations.",
  example: { email: "ada@example.com", name: "Ada Lovelace" },
});

export const AddMember = z
  .strictObject({
    ...ACCOUNT,
    role: OrgRole.openapi({ description: "The member's role in the organization." }),
  })
  .openapi("AddMember", {
    description: "The person to add, with the role.",
    example: { email: "grace@example.com", name: "Grace Hopper", role: "member" },
  });

export const ReplaceMember = z
  .strictObject({
    role: OrgRole.openapi({ description: "The new role in the organization." }),
  })
  .openapi("ReplaceMember", {
    description: "What a request can change.",
    example: { role: "admin" },
  });

export const Descendants = z
  .enum(DESCENDANTS_OPTIONS, "Send revoke or keep.")
  .openapi("Descendants", {
    description: "Whether what was made with a credential ends with it.",
  });

export const RemoveMemberQuery = z.object({
  descendants: Descendants.optional().openapi({
    description:
      "`revoke` also ends what the member has made for others, with a full credential; the member may " +
      "be removed already. Default: `keep`.",
  }),
});

export const MemberParams = z.object({
  ...idParam("org_id", "organization", "organization"),
  ...idParam("member_id", "membership", "membership"),
});

export const MemberKind = z
  .enum(MEMBER_KINDS)
  .openapi("MemberKind", { description: "Whether a member is a person or a program." });

const MemberStatus = z.enum(MEMBER_STATUSES).openapi("MemberStatus", {
  description:
    "A `pending` member has no keys and no projects until the person has signed in with the address, " +
    "and accepted the membership.",
});

export const Profile = z
  .object({
    bio: z.string().optional().openapi({ description: PROFILE.bio }),
    github: z.string().optional().openapi({ description: PROFILE.github }),
    location: z.string().optional().openapi({ description: PROFILE.location }),
    twitter: z.string().optional().openapi({ description: PROFILE.twitter }),
    website: z.string().optional().openapi({ description: PROFILE.website }),
  })
  .openapi("Profile", {
    description: "What the person tells about themselves. A field that is not set is absent.",
    example: { github: "ada", location: "London" },
  });

/** Of a person, in every resource of a membership. */
export const PERSON = {
  name: z.string().openapi({ description: "The person's full name.", example: "Ada Lovelace" }),
  display_name: z
    .string()
    .openapi({ description: "What to call the person in lists.", example: "Ada" }),
  avatar: z.string().optional().openapi({
    description: "A URL of an image, or an emoji. Absent: the person has none.",
    example: "https://example.com/ada.png",
  }),
  profile: Profile,
};

export const MEMBER_ID = "The `member_id` in the paths.";

export const Member = z
  .object({
    membership_id: identifierOf("membership", MEMBER_ID),
    account_id: identifierOf(
      "account",
      "The person, in this organization. A person whom several organizations have added has another account in each.",
    ),
    org_id: identifierOf("organization", "The organization that the person is a member of."),
    ...PERSON,
    role: OrgRole,
    kind: MemberKind,
    status: MemberStatus,
    created_at: timestampOf("When the person became a member."),
  })
  .openapi("Member", { description: "The place of a person or a program in an organization." });

export const MemberList = envelopeOf(Member, "MemberList");
