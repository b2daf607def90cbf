import { z } from "@hono/zod-openapi";
import { documented } from "#documented";
import { idParam } from "../../../http/params.ts";
import { lazy } from "../../../lib/lazy.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { ORG_ROLES } from "../../../lib/roles.ts";
import { clearable, component, nameInput, paragraphs, text } from "../../../lib/schemas.ts";
import { EMAIL } from "../../../lib/text-patterns.ts";
import { DESCENDANTS_OPTIONS } from "../credentials/model.ts";

const LINE = LIMITS.personLength.value;
const BIO = LIMITS.descriptionLength.value;
const URL_LENGTH = LIMITS.urlLength.value;

export const OrgRole = component("OrgRole", () =>
  z
    .enum(ORG_ROLES)
    .openapi(
      documented(() => ({ description: "A role in the organization: owner > admin > member." })),
    ),
);

export const PROFILE = documented(() => ({
  bio: "Some lines about the person.",
  github: "The user name at GitHub.",
  location: "Where the person is, as free text.",
  twitter: "The user name at Twitter.",
  website: "The address of the person's own pages.",
}));

export const ProfileInput = component("ProfileInput", () =>
  z
    .strictObject({
      bio: paragraphs(BIO)
        .nullish()
        .openapi(documented(() => ({ description: PROFILE.bio }))),
      github: text(LINE)
        .nullish()
        .openapi(documented(() => ({ description: PROFILE.github }))),
      location: text(LINE)
        .nullish()
        .openapi(documented(() => ({ description: PROFILE.location }))),
      twitter: text(LINE)
        .nullish()
        .openapi(documented(() => ({ description: PROFILE.twitter }))),
      website: text(URL_LENGTH)
        .nullish()
        .openapi(documented(() => ({ description: PROFILE.website }))),
    })
    .openapi(
      documented(() => ({
        description: "What the person tells about themselves. Absent or null: not set.",
        example: { github: "ada", location: "London" },
      })),
    ),
);

const INVALID_EMAIL =
  "Send an e-mail address. Write a domain in another script in punycode, as user@xn--80a1acny.xn--p1ai.";

export const Email = lazy(() =>
  z
    .email({ pattern: EMAIL, error: INVALID_EMAIL })
    .max(LIMITS.emailLength.value, `Send at most ${LIMITS.emailLength.value} characters.`)
    .transform((email) => email.toLowerCase()),
);

const ACCOUNT = lazy(() => ({
  email: Email().openapi(
    documented(() => ({
      description:
        "The person's address, in any case. Private: only the person's own account shows it.",
      pattern: EMAIL.source,
      example: "ada@example.com",
    })),
  ),
  name: nameInput(LINE).openapi(
    documented(() => ({ description: "The person's full name.", example: "Ada Lovelace" })),
  ),
  display_name: clearable(nameInput(LINE)).openapi(
    documented(() => ({
      description: "What to call the person in lists. Absent or null: the full name.",
      example: "Ada",
    })),
  ),
  avatar: clearable(text(URL_LENGTH)).openapi(
    documented(() => ({
      description: "A URL of an image, or an emoji. Absent or null: none.",
    })),
  ),
  profile: z
    .union([ProfileInput(), z.null()])
    .optional()
    .openapi(
      documented(() => ({
        description: "What the person tells about themselves. Absent or null: nothing.",
      })),
    ),
}));

export const AccountInput = component("AccountInput", () =>
  z.strictObject(ACCOUNT()).openapi(
    documented(() => ({
      description: "A person, who may join several organizations.",
      example: { email: "ada@example.com", name: "Ada Lovelace" },
    })),
  ),
);

export const AddMember = component("AddMember", () =>
  z
    .strictObject({
      ...ACCOUNT(),
      role: OrgRole().openapi(
        documented(() => ({ description: "The member's role in the organization." })),
      ),
    })
    .openapi(
      documented(() => ({
        description: "The person to add, with the role.",
        example: { email: "grace@example.com", name: "Grace Hopper", role: "member" },
      })),
    ),
);

export const ReplaceMember = component("ReplaceMember", () =>
  z
    .strictObject({
      role: OrgRole().openapi(
        documented(() => ({ description: "The new role in the organization." })),
      ),
    })
    .openapi(
      documented(() => ({ description: "What a request can change.", example: { role: "admin" } })),
    ),
);

export const Descendants = component("Descendants", () =>
  z.enum(DESCENDANTS_OPTIONS, "Send revoke or keep.").openapi(
    documented(() => ({
      description: "Whether what was made with a credential ends with it.",
    })),
  ),
);

export const RemoveMemberQuery = lazy(() =>
  z.object({
    descendants: Descendants()
      .optional()
      .openapi(
        documented(() => ({
          description:
            "`revoke` also ends what the member has made for others, with a full credential; the member may " +
            "be removed already. Default: `keep`.",
        })),
      ),
  }),
);

export const MemberParams = lazy(() =>
  z.object({
    ...idParam("org_id", "organization", "organization"),
    ...idParam("member_id", "membership", "membership"),
  }),
);
