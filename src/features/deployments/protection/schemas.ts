import { z } from "@hono/zod-openapi";
import { EXAMPLE_IDS } from "../../../lib/example-ids.ts";
import { CODE_HOST_ISSUERS } from "../../../lib/job-source.ts";
import { identifierOf, identifiersOf, timestampOf } from "../../../lib/schemas.ts";
import { APPROVER_VERIFIERS } from "../../../lib/settings.ts";
import { DAYS } from "../../projects/access/model.ts";
import { Exemption } from "../deployments/schemas.ts";

export const MemberRole = z
  .enum(["contributor", "owner"])
  .openapi("ProtectionRole", { description: "The least role in the project that is enough." });

export const Weekday = z
  .enum(DAYS)
  .openapi("Weekday", { description: "A day on the clock of the time zone." });

export const CodeHostIssuer = z.enum(CODE_HOST_ISSUERS).openapi("CodeHostIssuer", {
  description: "An issuer whose claims mean the same for everybody.",
});

const Members = z
  .object({
    role: MemberRole.optional().openapi({
      description:
        "Everybody with at least this role in the project, and the admins of the organization.",
    }),
    membership_ids: identifiersOf("membership").optional().openapi({ description: "Only these." }),
  })
  .openapi("EnvironmentMembers", {
    description: "Who may. Has one of both fields.",
    example: { role: "owner" },
  });

const Access = z
  .object({
    deploy: Members.openapi({ description: "Who may deploy, and change stacks." }),
    configure: Members.openapi({
      description: "Who may write the configuration and the variables, and change components.",
    }),
  })
  .openapi("EnvironmentAccess", { description: "Who may change the environment." });

const Approvals = z
  .object({
    required: z.int().openapi({ description: "How many people have to approve.", example: 1 }),
    approvers: Members.openapi({ description: "Who may approve." }),
    prevent_self_approval: z.boolean().openapi({
      description: "Whether approvals of the creator, and of who has made the key, do not count.",
      example: true,
    }),
    expires_after_seconds: z.int().min(0).openapi({
      description: "How long after its creation a deployment without its approvals is canceled.",
      example: 86_400,
    }),
  })
  .openapi("EnvironmentApprovals", { description: "The approvals that a deployment needs." });

const From = z
  .object({
    environment_ids: identifiersOf("environment").openapi({
      description:
        "A success in one of these is enough. Those that the key cannot access are left out.",
    }),
    minimum_seconds: z.int().min(0).openapi({
      description: "For how long it has to have been there since it succeeded.",
      example: 3_600,
    }),
    same_configuration: z
      .object({
        except: z.array(z.string()).openapi({
          description: "JSON Pointers to what may differ, with everything below it.",
          example: ["/replicas"],
        }),
      })
      .optional()
      .openapi({ description: "What of the configuration may differ. Absent: everything." }),
  })
  .openapi("EnvironmentFrom", {
    description: "Where the same source has to have succeeded before.",
  });

const SourceOfRule = z
  .object({
    trust_ids: identifiersOf("trust")
      .optional()
      .openapi({ description: "Only keys of these trusts." }),
    issuer: CodeHostIssuer.optional().openapi({
      description: "Keys of each trust with this issuer.",
    }),
    repository_id: z
      .string()
      .openapi({ description: "As tokens of the code host name it.", example: "1296269" }),
    ref: z.string().openapi({
      description: "The job's full ref. `*` stands for any characters but `/`.",
      example: "refs/heads/main",
    }),
    protected_ref: z
      .boolean()
      .optional()
      .openapi({ description: "Whether only a ref that the code host protects counts." }),
  })
  .openapi("EnvironmentSource", {
    description:
      "A repository and a ref, as a trust has verified them. Rules from before releases with `trust_ids` and `issuer` " +
      "may have neither: they match nothing.",
  });

const Windows = z
  .object({
    time_zone: z.string().openapi({
      description: "Whose clock decides: an IANA name.",
      example: "Europe/Berlin",
    }),
    weekly: z
      .array(
        z
          .object({
            days: z.array(Weekday).openapi({
              description: "The days on which it begins.",
              example: ["monday"],
            }),
            from: z.string().openapi({ description: "When it begins.", example: "09:00" }),
            to: z.string().openapi({
              description: "When it ends: on the next day, unless that is after the beginning.",
              example: "17:00",
            }),
          })
          .openapi({ description: "A time of some days of each week." }),
      )
      .openapi({ description: "In any of these." }),
  })
  .openapi("EnvironmentWindows", {
    description: "When deployments may start, on the clock of the time zone.",
  });

const ApproverVerifier = z.enum(APPROVER_VERIFIERS).openapi("ApproverVerifier", {
  description:
    "Who says who an approver is, by the settings of this deployment; absent without `approvals`. `identity_provider`: an " +
    "approval by somebody whom a creator of the deployment has added or invited counts only after a sign-in with OpenID " +
    "Connect. `admins`: approvals are as strong as the organization's admins, who could approve as someone they have added.",
});

export const EnvironmentProtection = z
  .object({
    environment_id: identifierOf("environment", "Where these rules apply."),
    access: Access,
    approvals: Approvals.optional().openapi({
      description: "The approvals that a deployment needs. Absent: none.",
    }),
    from: From.optional().openapi({
      description: "Where the same source has to have succeeded before. Absent: nowhere.",
    }),
    sources: z.array(SourceOfRule).optional().openapi({
      description: "The only repositories and refs whose jobs may deploy. Absent: all.",
    }),
    windows: Windows.optional().openapi({
      description: "When deployments may start. Absent: at any time.",
    }),
    exempt: z.array(Exemption).optional().openapi({
      description: "Redeployments that need nothing but their turn in the group. Absent: none.",
    }),
    group: z.string().optional().openapi({
      description:
        "Of all environments of the project with the same group, one is deployed at a time.",
      example: "production",
    }),
    approvers_verified_by: ApproverVerifier.optional(),
    updated_at: timestampOf("When the rules last changed. Absent: never.").optional(),
  })
  .openapi("EnvironmentProtection", {
    description: "The rules of an environment, with their defaults.",
    example: {
      environment_id: EXAMPLE_IDS.environment,
      access: { deploy: { role: "contributor" }, configure: { role: "owner" } },
      approvals: {
        required: 1,
        approvers: { role: "owner" },
        prevent_self_approval: true,
        expires_after_seconds: 86_400,
      },
      approvers_verified_by: "identity_provider",
      updated_at: "2026-11-21T09:30:00.000Z",
    },
  });
