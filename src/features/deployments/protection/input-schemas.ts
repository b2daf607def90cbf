import { z } from "@hono/zod-openapi";
import { jsonBytes } from "../../../lib/json-value.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { sizeOf } from "../../../lib/quantities.ts";
import { identifierInput, line, slug } from "../../../lib/schemas.ts";
import { LINE } from "../../../lib/text-patterns.ts";
import { DAYS, EXEMPTIONS } from "../../projects/access/model.ts";
import { isTimeZone } from "./model.ts";
import { CodeHostIssuer, MemberRole, Weekday } from "./schemas.ts";

const {
  approvalsRequired,
  ruleMembers,
  minimumApprovalSeconds,
  maximumApprovalSeconds,
  rulePlaces,
  rulesBytes,
  fromSeconds,
  sourceRules,
  windows,
  timeZoneLength,
} = LIMITS;

const AN_ENTRY = "Send either role or membership_ids.";

/** One object instead of a union, so that an error names the field. */
const MembersInput = z
  .strictObject({
    role: MemberRole.optional().openapi({
      description:
        "Everybody with at least this role in the project, and the admins of the organization.",
    }),
    membership_ids: z
      .array(identifierInput("membership"))
      .min(1, "Send at least one membership.")
      .max(ruleMembers.value, `Send at most ${ruleMembers.value} memberships.`)
      .refine((ids) => new Set(ids).size === ids.length, "Send each membership once.")
      .optional()
      .openapi({
        description: "Only these. A list gives no role: each needs that of the operation, too.",
      }),
  })
  .refine(({ role, membership_ids: ids }) => (role === undefined) !== (ids === undefined), AN_ENTRY)
  .openapi("ProtectionMembers", {
    description: "Who may: those with a role, or listed members. Exactly one of both fields.",
    example: { role: "owner" },
  });

const AccessInput = z
  .strictObject({
    deploy: MembersInput.optional().openapi({
      description:
        "Who may create deployments, also by redeploying and promoting, and change stacks. Default: contributors.",
    }),
    configure: MembersInput.optional().openapi({
      description:
        "Who may write the configuration and the variables, and change components. Default: contributors, with " +
        "approvals owners.",
    }),
  })
  .openapi("ProtectionAccess", { description: "Who may change the environment." });

const ApprovalsInput = z
  .strictObject({
    required: z
      .int(`Send a whole number from 1 to ${approvalsRequired.value}.`)
      .min(1)
      .max(approvalsRequired.value)
      .openapi({ description: "How many people have to approve." }),
    approvers: MembersInput.openapi({ description: "Who may approve: people, never programs." }),
    prevent_self_approval: z.boolean().optional().openapi({
      description:
        "Whether the creator's own approval does not count, nor that of who has made the key. Default: true.",
    }),
    expires_after_seconds: z
      .int()
      .min(minimumApprovalSeconds.value)
      .max(maximumApprovalSeconds.value)
      .optional()
      .openapi({
        description:
          "A deployment without its approvals ends `canceled` this long after its creation. Default: a day.",
        example: 86_400,
      }),
  })
  .openapi("ProtectionApprovals", { description: "The approvals that a deployment needs." });

const FromInput = z
  .strictObject({
    environment_ids: z.array(identifierInput("environment")).min(1).max(rulePlaces.value).openapi({
      description: "Other environments of the project. A success in one of them is enough.",
    }),
    minimum_seconds: z.int().min(0).max(fromSeconds.value).optional().openapi({
      description: "For how long it has to have been there since it succeeded. Default: 0.",
    }),
    same_configuration: z
      .strictObject({
        except: z
          .array(
            line(LIMITS.pointerLength.value)
              .startsWith("/", "Send a JSON Pointer that starts with /.")
              .openapi({ pattern: LINE.source.replace("^", "^/") }),
          )
          .max(LIMITS.patchOperations.value)
          .openapi({
            description: "JSON Pointers to what may differ, with everything below it.",
            example: ["/replicas"],
          }),
      })
      .optional()
      .openapi({
        description: "Whether the configuration has to be the same, too. Absent: only the source.",
      }),
  })
  .openapi("ProtectionFrom", { description: "Where the same has to have succeeded before." });

const SourceInput = z
  .strictObject({
    trust_ids: z
      .array(identifierInput("trust"))
      .min(1, "Send at least one trust.")
      .max(rulePlaces.value, `Send at most ${rulePlaces.value} trusts.`)
      .optional()
      .openapi({
        description: "Only keys of these trusts. Needed for a code host of your own.",
      }),
    issuer: CodeHostIssuer.optional().openapi({
      description: "Keys of each trust with this issuer.",
    }),
    repository_id: z
      .string()
      .regex(/^\d{1,20}$/, "Send the number of the repository, such as 1296269.")
      .openapi({
        description: "The claim `repository_id` of the job's token; at GitLab, `project_id`.",
        example: "1296269",
      }),
    ref: line(LIMITS.sourceLength.value)
      .startsWith("refs/", "Send a full ref, such as refs/heads/main or refs/tags/v*.")
      .openapi({
        pattern: LINE.source.replace("^", "^refs/"),
        description:
          "The full ref of the job: the claim `ref`; at GitLab, `ref_path`. `*` stands for any characters but `/`.",
        example: "refs/heads/main",
      }),
    protected_ref: z.boolean().optional().openapi({
      description:
        "Whether only a ref that the code host protects counts: the claim `ref_protected`. Default: false.",
    }),
  })
  .refine(
    ({ trust_ids: ids, issuer }) => (ids === undefined) !== (issuer === undefined),
    "Send either trust_ids or issuer.",
  )
  .openapi("ProtectionSource", {
    description:
      "A repository and a ref, as one of the trusts, or one with the issuer, has verified them. Send either " +
      "`trust_ids` or `issuer`.",
    example: {
      issuer: "https://token.actions.githubusercontent.com",
      repository_id: "1296269",
      ref: "refs/heads/main",
    },
  });

const TIME = /^([01]\d|2[0-3]):[0-5]\d$/;

const timeOfDay = (metadata: { description: string; example: string }) =>
  z.string().regex(TIME, "Send a time from 00:00 to 23:59.").openapi(metadata);

const TIME_ZONE = "Send an IANA time zone, such as Europe/Berlin.";

const WindowsInput = z
  .strictObject({
    time_zone: z
      .string()
      .max(timeZoneLength.value)
      .regex(/^[A-Za-z][\w/+-]*$/, { error: TIME_ZONE, abort: true })
      .refine(isTimeZone, TIME_ZONE)
      .openapi({
        description: "Whose clock decides: an IANA name.",
        example: "Europe/Berlin",
      }),
    weekly: z
      .array(
        z
          .strictObject({
            days: z
              .array(Weekday)
              .min(1)
              .max(DAYS.length)
              .openapi({ description: "The days on which it begins." }),
            from: timeOfDay({ description: "When it begins.", example: "09:00" }),
            to: timeOfDay({
              description: "When it ends: on the next day, unless that is after the beginning.",
              example: "17:00",
            }),
          })
          .openapi({ description: "A time of some days of each week." }),
      )
      .min(1)
      .max(windows.value)
      .openapi({ description: "In any of these." }),
  })
  .openapi("ProtectionWindows", {
    description:
      "When deployments may start, on the clock of the time zone. What the clock passes over does not occur; what it " +
      "shows twice counts twice.",
  });

export const ReplaceProtection = z
  .strictObject({
    access: AccessInput.optional(),
    approvals: ApprovalsInput.optional(),
    from: FromInput.optional(),
    sources: z
      .array(SourceInput)
      .min(1)
      .max(sourceRules.value)
      .optional()
      .openapi({
        description:
          "Only jobs of these may deploy, with the key that a trust gives them; and the commit of the source, if it has " +
          "one, has to be the job's.",
      }),
    windows: WindowsInput.optional(),
    exempt: z
      .array(z.enum(EXEMPTIONS))
      .min(1)
      .max(EXEMPTIONS.length)
      .optional()
      .openapi({
        description:
          "Redeployments that need nothing of this but their turn in the group, and that no freeze holds.",
        items: { $ref: "#/components/schemas/Exemption" },
      }),
    group: slug().optional().openapi({
      description:
        "Of all environments of the project with the same group, one is deployed at a time.",
      example: "production",
    }),
  })
  .refine(
    (rules) => jsonBytes(rules) <= rulesBytes.value,
    `Send rules of at most ${sizeOf(rulesBytes.value)}.`,
  )
  .openapi("ReplaceProtection", {
    description: "The rules of the environment. None: everybody may as their role says.",
    example: {
      access: { deploy: { role: "contributor" } },
      approvals: { required: 1, approvers: { role: "owner" } },
    },
  });
