import { z } from "@hono/zod-openapi";
import { LIMITS } from "../../../lib/limits.ts";
import { identifierOf, identifiersOf, nameInput, text, timestampOf } from "../../../lib/schemas.ts";
import { ScopeName } from "../api-keys/schemas.ts";
import { MEMBER_ID, MemberKind, OrgRole, PERSON, ProfileInput } from "../memberships/schemas.ts";

export const UpdateAccount = z
  .strictObject({
    name: nameInput(LIMITS.personLength.value)
      .optional()
      .openapi({ description: "The person's full name.", example: "Ada Lovelace" }),
    display_name: nameInput(LIMITS.personLength.value)
      .nullish()
      .openapi({
        description:
          "What to call the person in lists. Null: the full name. One that equals the full name " +
          "changes with it.",
        example: "Ada",
      }),
    avatar: text(LIMITS.urlLength.value)
      .nullish()
      .openapi({ description: "A URL of an image, or an emoji. Null: none." }),
    profile: z.union([ProfileInput, z.null()]).optional().openapi({
      description:
        "Merged into the profile: an absent field stays, and null clears one. Null: clears all.",
    }),
  })
  .openapi("UpdateAccount", {
    description: "The fields to change. An absent field stays as it is.",
    example: { name: "Ada King", profile: { github: "ada", location: null } },
  });

export const Account = z
  .object({
    id: identifierOf("account", "The `account_id` of the person's memberships."),
    email: z.string().optional().openapi({
      description:
        "The person's address. Private: absent unless the person has made the key of the request.",
      example: "ada@example.com",
    }),
    ...PERSON,
    created_at: timestampOf("When the account was created."),
    updated_at: timestampOf("When the person, or the service, last changed the account."),
  })
  .openapi("Account", {
    description: "A person, as every organization with the account sees them.",
  });

const Organization = z
  .object({
    id: identifierOf("organization", "The `org_id` in the paths."),
    name: z.string().openapi({ description: "Its display name.", example: "Acme" }),
  })
  .openapi({ description: "The only organization that the credential can access." });

const Membership = z
  .object({
    id: identifierOf("membership", MEMBER_ID),
    role: OrgRole.openapi({ description: "The highest role that its keys can have." }),
    kind: MemberKind,
  })
  .openapi({ description: "The membership that the credential acts for." });

const OwnAccount = z
  .object({
    id: identifierOf("account", "The account of the membership."),
    name: z.string().openapi({ description: "Its full name.", example: "Ada Lovelace" }),
  })
  .openapi({ description: "The person or the program." });

const Creator = z
  .object({
    key_id: identifierOf("apiKey", "The key that created it.").optional(),
    membership_id: identifierOf("membership", "The membership that created it.").optional(),
  })
  .openapi({ description: "Who created the credential. Absent: not known." });

const CredentialType = z.enum(["api_key", "session"]).openapi("CredentialType", {
  description: "How the sender authenticated. A session may do what its key may do.",
});

const CurrentCredential = z
  .object({
    type: CredentialType,
    id: identifierOf("apiKey", "The ID of the key, or of the session."),
    key_id: identifierOf("apiKey", "The key that the session came from. Absent: none.").optional(),
    name: z.string().openapi({ description: "What the key is for.", example: "ci" }),
    role: OrgRole.openapi({
      description: "The effective role: the lower of the roles of the key and the membership.",
    }),
    scopes: z
      .array(ScopeName)
      .optional()
      .openapi({ description: "What the key may do. Absent: all that its role allows." }),
    project_ids: identifiersOf("project")
      .optional()
      .openapi({ description: "The only projects that the key can access. Absent: all." }),
    environment_ids: identifiersOf("environment")
      .optional()
      .openapi({ description: "The only environments that the key can access. Absent: all." }),
    expires_at: timestampOf(
      "The credential is rejected from this time on. Absent: never.",
    ).optional(),
    created_by: Creator.optional(),
    own: z.boolean().openapi({
      description:
        "Whether only the membership itself has made the key, and the keys that it descends from.",
    }),
    full: z.boolean().openapi({
      description:
        "Whether it can add, invite and promote members, found organizations, and change the account: " +
        "the key is the person's `own`, is not narrowed, has no expiry but one that only the " +
        "organization's `max_age_seconds` imposed, and has the whole role of its membership.",
    }),
  })
  .openapi({ description: "The key that the request was sent with, and what it may do." });

const RateLimit = z
  .object({
    name: z.string().openapi({ description: "The policy's name.", example: "default" }),
    limit: z.int().openapi({ description: "Requests in each window.", example: 100 }),
    window_seconds: z
      .int()
      .min(0)
      .openapi({ description: "How long a request counts toward the limit.", example: 60 }),
  })
  .openapi({ description: "A rate limit policy." });

export const WhoAmI = z
  .object({
    organization: Organization,
    membership: Membership,
    account: OwnAccount,
    credential: CurrentCredential,
    limits: z
      .array(RateLimit)
      .openapi({ description: "The rate limits of the credential, by the kind of request." }),
  })
  .openapi("WhoAmI", { description: "Who sends a request, and what they may do." });
