import { z } from "@hono/zod-openapi";
import { documented } from "#documented";
import { LIMITS } from "../../../lib/limits.ts";
import { clearable, component, nameInput } from "../../../lib/schemas.ts";
import type { Provider } from "./model.ts";

const EXAMPLE_ROLE = documented(() => "arn:aws:iam::123456789012:role/deploy");

/** A name that no command line takes as an option. */
const word = (metadata: { description: string; example: string }) =>
  z
    .string()
    .max(
      LIMITS.connectionNameLength.value,
      `Send at most ${LIMITS.connectionNameLength.value} characters.`,
    )
    .regex(
      /^[A-Za-z0-9_][A-Za-z0-9_.:@/-]*$/,
      "Send letters, digits, and any of _ . : @ / -, with a letter, a digit or _ first.",
    )
    .openapi(metadata);

const providerOf = <Name extends Provider>(provider: Name) =>
  z.literal(provider).openapi(documented(() => ({ description: "The kind of the connection." })));

/** Source of the formats: AWS. */
export const AwsConnection = component("AwsConnection", () =>
  z
    .strictObject({
      provider: providerOf("aws"),
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
    })
    .openapi(documented(() => ({ description: "An account of Amazon Web Services." }))),
);

export const CloudflareConnection = component("CloudflareConnection", () =>
  z
    .strictObject({
      provider: providerOf("cloudflare"),
      account_id: z
        .string()
        .regex(/^[0-9a-f]{32}$/, "Send the 32 lowercase hex digits of a Cloudflare account.")
        .openapi(
          documented(() => ({
            description: "The 32 hex digits of the Cloudflare account.",
            example: "023e105f4ecef8ad9ca31a8372d0c353",
          })),
        ),
    })
    .openapi(documented(() => ({ description: "An account of Cloudflare." }))),
);

export const KubernetesConnection = component("KubernetesConnection", () =>
  z
    .strictObject({
      provider: providerOf("kubernetes"),
      context: word(
        documented(() => ({
          description: "The context in the configuration of the runner's kubectl.",
          example: "production",
        })),
      ),
      namespace: clearable(
        z
          .string()
          .regex(
            /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
            "Send the name of a namespace: at most 63 lowercase letters, digits and hyphens.",
          ),
      ).openapi(
        documented(() => ({
          description: "The namespace. Absent or null: that of the context.",
          example: "shop",
        })),
      ),
    })
    .openapi(documented(() => ({ description: "A Kubernetes cluster." }))),
);

export const SshConnection = component("SshConnection", () =>
  z
    .strictObject({
      provider: providerOf("ssh"),
      host: word(
        documented(() => ({
          description: "The host, as the runner's SSH configuration knows it.",
          example: "web-1.example.com",
        })),
      ),
      user: clearable(
        z
          .string()
          .regex(
            /^[a-z_][a-z0-9_-]{0,31}$/,
            "Send the name of a user: at most 32 lowercase letters, digits, _ and -.",
          ),
      ).openapi(
        documented(() => ({
          description: "The user on the host. Absent or null: that of the SSH configuration.",
          example: "deploy",
        })),
      ),
    })
    .openapi(documented(() => ({ description: "A machine that is reached by SSH." }))),
);

export const OtherConnection = component("OtherConnection", () =>
  z
    .strictObject({
      provider: providerOf("other"),
      name: nameInput(LIMITS.nameLength.value).openapi(
        documented(() => ({
          description: "What people call the place that is deployed to.",
          example: "The machine in the office",
        })),
      ),
    })
    .openapi(documented(() => ({ description: "Any other place to deploy to." }))),
);

export const ConnectProject = component("ConnectProject", () =>
  z
    .discriminatedUnion("provider", [
      AwsConnection(),
      CloudflareConnection(),
      KubernetesConnection(),
      SshConnection(),
      OtherConnection(),
    ])
    .openapi(
      documented(() => ({
        description:
          "Where the project is deployed to. No field is a secret: runners have the credentials.",
        example: {
          provider: "aws",
          account_id: "123456789012",
          region: "eu-central-1",
          role_arn: EXAMPLE_ROLE,
        },
      })),
    ),
);
