import { z } from "@hono/zod-openapi";
import { EXAMPLE_IDS } from "../../../lib/example-ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { clearable, nameInput } from "../../../lib/schemas.ts";
import type { Provider } from "./model.ts";

const EXAMPLE_ROLE = "arn:aws:iam::123456789012:role/deploy";

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
  z.literal(provider).openapi({ description: "The kind of the connection." });

/** Source of the formats: AWS. */
export const AwsConnection = z
  .strictObject({
    provider: providerOf("aws"),
    account_id: z
      .string()
      .regex(/^\d{12}$/, "Send the 12 digits of an AWS account.")
      .openapi({
        description: "The 12 digits of the AWS account.",
        example: "123456789012",
      }),
    region: z
      .string()
      .regex(/^[a-z]{2,3}(-[a-z]+)+-\d{1,2}$/, "Send the name of a region, such as eu-central-1.")
      .openapi({ description: "Where runners deploy to.", example: "eu-central-1" }),
    role_arn: clearable(
      z
        .string()
        .max(LIMITS.roleArnLength.value, `Send at most ${LIMITS.roleArnLength.value} characters.`)
        .regex(
          /^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/,
          "Send the ARN of an IAM role, such as arn:aws:iam::123456789012:role/deploy.",
        ),
    ).openapi({
      description: "The role that runners assume in the account. Absent or null: none.",
      example: EXAMPLE_ROLE,
    }),
  })
  .openapi("AwsConnection", { description: "An account of Amazon Web Services." });

export const CloudflareConnection = z
  .strictObject({
    provider: providerOf("cloudflare"),
    account_id: z
      .string()
      .regex(/^[0-9a-f]{32}$/, "Send the 32 lowercase hex digits of a Cloudflare account.")
      .openapi({
        description: "The 32 hex digits of the Cloudflare account.",
        example: "023e105f4ecef8ad9ca31a8372d0c353",
      }),
  })
  .openapi("CloudflareConnection", { description: "An account of Cloudflare." });

export const KubernetesConnection = z
  .strictObject({
    provider: providerOf("kubernetes"),
    context: word({
      description: "The context in the configuration of the runner's kubectl.",
      example: "production",
    }),
    namespace: clearable(
      z
        .string()
        .regex(
          /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
          "Send the name of a namespace: at most 63 lowercase letters, digits and hyphens.",
        ),
    ).openapi({
      description: "The namespace. Absent or null: that of the context.",
      example: "shop",
    }),
  })
  .openapi("KubernetesConnection", { description: "A Kubernetes cluster." });

export const SshConnection = z
  .strictObject({
    provider: providerOf("ssh"),
    host: word({
      description: "The host, as the runner's SSH configuration knows it.",
      example: "web-1.example.com",
    }),
    user: clearable(
      z
        .string()
        .regex(
          /^[a-z_][a-z0-9_-]{0,31}$/,
          "Send the name of a user: at most 32 lowercase letters, digits, _ and -.",
        ),
    ).openapi({
      description: "The user on the host. Absent or null: that of the SSH configuration.",
      example: "deploy",
    }),
  })
  .openapi("SshConnection", { description: "A machine that is reached by SSH." });

export const OtherConnection = z
  .strictObject({
    provider: providerOf("other"),
    name: nameInput(LIMITS.nameLength.value).openapi({
      description: "What people call the place that is deployed to.",
      example: "The machine in the office",
    }),
  })
  .openapi("OtherConnection", { description: "Any other place to deploy to." });

export const ConnectProject = z
  .discriminatedUnion("provider", [
    AwsConnection,
    CloudflareConnection,
    KubernetesConnection,
    SshConnection,
    OtherConnection,
  ])
  .openapi("ConnectProject", {
    description:
      "Where the project is deployed to. No field is a secret: runners have the credentials.",
    example: {
      provider: "aws",
      account_id: "123456789012",
      region: "eu-central-1",
      role_arn: EXAMPLE_ROLE,
    },
  });

const KubernetesCluster = z
  .object({
    ...KubernetesConnection.shape,
    namespace: z
      .string()
      .optional()
      .openapi({ description: "Absent: the namespace of the context.", example: "shop" }),
  })
  .openapi("KubernetesCluster", { description: "A Kubernetes cluster." });

const SshHost = z
  .object({
    ...SshConnection.shape,
    user: z
      .string()
      .optional()
      .openapi({ description: "Absent: the user of the SSH configuration.", example: "deploy" }),
  })
  .openapi("SshHost", { description: "A machine that is reached by SSH." });

const AwsAccount = z
  .object({
    ...AwsConnection.shape,
    role_arn: z.string().optional().openapi({
      description: "The role that runners assume. Absent: none.",
      example: "arn:aws:iam::123456789012:role/deploy",
    }),
    external_id: z
      .string()
      .optional()
      .openapi({
        description:
          "The external ID that the trust policy of the role must require. Generated, and the same until the " +
          "project is disconnected. Only for owners of the project and for runners.",
        example: EXAMPLE_IDS.externalId,
      }),
  })
  .openapi("AwsAccount", {
    description: "An account of Amazon Web Services, with the external ID.",
  });

const CloudflareAccount = z
  .object(CloudflareConnection.shape)
  .openapi("CloudflareAccount", { description: "An account of Cloudflare that is deployed to." });

const OtherPlace = z
  .object(OtherConnection.shape)
  .openapi("OtherPlace", { description: "Any other place that is deployed to." });

export const Connection = z
  .discriminatedUnion("provider", [
    AwsAccount,
    CloudflareAccount,
    KubernetesCluster,
    SshHost,
    OtherPlace,
  ])
  .openapi("Connection", { description: "Where a project is deployed to." });
