import { z } from "@hono/zod-openapi";
import { documented } from "#documented";
import { LIMITS } from "../../../lib/limits.ts";
import { clearable, component } from "../../../lib/schemas.ts";
import { PROVIDERS } from "./model.ts";

const EXAMPLE_ROLE = documented(() => "arn:aws:iam::123456789012:role/deploy");

const CloudProvider = component("CloudProvider", () =>
  z
    .enum(PROVIDERS)
    .openapi(documented(() => ({ description: "The cloud provider. More may follow." }))),
);

/** Source of the formats: AWS. */
export const ConnectProject = component("ConnectProject", () =>
  z
    .strictObject({
      provider: CloudProvider(),
      account_id: z
        .string()
        .regex(/^\d{12}$/, "Send the 12 digits of an AWS account.")
        .openapi(
          documented(() => ({
            description: "The 12 digits of the AWS account.",
            example: "123456789012",
          })),
        ),
      region: z
        .string()
        .regex(/^[a-z]{2,3}(-[a-z]+)+-\d{1,2}$/, "Send the name of a region, such as eu-central-1.")
        .openapi(
          documented(() => ({ description: "Where runners deploy to.", example: "eu-central-1" })),
        ),
      role_arn: clearable(
        z
          .string()
          .max(LIMITS.roleArnLength.value, `Send at most ${LIMITS.roleArnLength.value} characters.`)
          .regex(
            /^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/,
            "Send the ARN of an IAM role, such as arn:aws:iam::123456789012:role/deploy.",
          ),
      ).openapi(
        documented(() => ({
          description: "The role that runners assume in the account. Absent or null: none.",
          example: EXAMPLE_ROLE,
        })),
      ),
      external_id: clearable(
        z
          .string()
          .min(2, "Send at least 2 characters.")
          .max(
            LIMITS.externalIdLength.value,
            `Send at most ${LIMITS.externalIdLength.value} characters.`,
          )
          .regex(/^[\w+=,.@:/-]+$/, "Send letters, digits, and any of + = , . @ : / - _."),
      ).openapi(
        documented(() => ({
          description:
            "The external ID that the role's trust policy requires. Absent or null: it requires none.",
        })),
      ),
    })
    .openapi(
      documented(() => ({
        description: "The account of a cloud provider that the project is deployed to.",
        example: {
          provider: "aws",
          account_id: "123456789012",
          region: "eu-central-1",
          role_arn: EXAMPLE_ROLE,
        },
      })),
    ),
);
