import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../http/pagination.ts";
import { idParam } from "../../http/params.ts";
import { LIMITS } from "../../lib/limits.ts";
import { ORG_ROLES } from "../../lib/roles.ts";
import { clearable, Identifier, paragraphs, Timestamp, text } from "../../lib/schemas.ts";

const LINE = LIMITS.personLength.value;
const BIO = LIMITS.descriptionLength.value;
const URL_LENGTH = LIMITS.urlLength.value;

export const OrgRole = z
  .enum(ORG_ROLES)
  .openapi("OrgRole", { description: "A role in the organization: owner > admin > member." });

/** Source: spec, "Project member". */
export const Profile = z
  .object({
    bio: z.string().optional(),
    github: z.string().optional().openapi({ description: "The user name at GitHub." }),
    location: z.string().optional(),
    twitter: z.string().optional().openapi({ description: "The user name at Twitter." }),
    website: z.string().optional(),
  })
  .openapi("Profile", { example: { github: "ada", location: "London" } });

export const Member = z
  .object({
    membership_id: Identifier,
    account_id: Identifier,
    org_id: Identifier,
    name: z.string().openapi({ example: "Ada Lovelace" }),
    display_name: z.string().openapi({ example: "Ada" }),
    avatar: z.string().optional().openapi({ example: "https://example.com/ada.png" }),
    profile: Profile,
    role: OrgRole,
    created_at: Timestamp,
  })
  .openapi("Member");

export const MemberList = envelopeOf(Member, "MemberList");

const ProfileInput = z.strictObject({
  bio: paragraphs(BIO).nullish(),
  github: text(LINE).nullish(),
  location: text(LINE).nullish(),
  twitter: text(LINE).nullish(),
  website: text(URL_LENGTH).nullish(),
});

export const AccountInput = z.strictObject({
  email: z
    .email("Send an e-mail address.")
    .max(LIMITS.emailLength.value, `Send at most ${LIMITS.emailLength.value} characters.`)
    .transform((email) => email.toLowerCase())
    .openapi({ description: "Private: no response contains it." }),
  name: text(LINE),
  display_name: clearable(text(LINE)).openapi({ description: "Default: the name." }),
  avatar: clearable(text(URL_LENGTH)).openapi({ description: "A URL or an emoji." }),
  profile: ProfileInput.nullish(),
});

export const AddMember = AccountInput.extend({ role: OrgRole }).openapi("AddMember", {
  example: { email: "grace@example.com", name: "Grace Hopper", role: "member" },
});

export const ReplaceMember = z
  .strictObject({ role: OrgRole })
  .openapi("ReplaceMember", { example: { role: "admin" } });

export const MemberParams = z.object({
  ...idParam("org_id", "organization"),
  ...idParam("membership_id", "membership"),
});
