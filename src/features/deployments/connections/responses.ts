import { z } from "@hono/zod-openapi";
import { EXAMPLE_IDS } from "../../../lib/example-ids.ts";
import { component } from "../../../lib/schemas.ts";
import {
  AwsConnection,
  CloudflareConnection,
  KubernetesConnection,
  OtherConnection,
  SshConnection,
} from "./schemas.ts";

const KubernetesCluster = component("KubernetesCluster", () =>
  z
    .object({
      ...KubernetesConnection().shape,
      namespace: z
        .string()
        .optional()
        .openapi({ description: "Absent: the namespace of the context.", example: "shop" }),
    })
    .openapi({ description: "A Kubernetes cluster." }),
);

const SshHost = component("SshHost", () =>
  z
    .object({
      ...SshConnection().shape,
      user: z
        .string()
        .optional()
        .openapi({ description: "Absent: the user of the SSH configuration.", example: "deploy" }),
    })
    .openapi({ description: "A machine that is reached by SSH." }),
);

const AwsAccount = component("AwsAccount", () =>
  z
    .object({
      ...AwsConnection().shape,
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
    .openapi({ description: "An account of Amazon Web Services, with the external ID." }),
);

const CloudflareAccount = component("CloudflareAccount", () =>
  z
    .object(CloudflareConnection().shape)
    .openapi({ description: "An account of Cloudflare that is deployed to." }),
);

const OtherPlace = component("OtherPlace", () =>
  z
    .object(OtherConnection().shape)
    .openapi({ description: "Any other place that is deployed to." }),
);

export const Connection = component("Connection", () =>
  z
    .discriminatedUnion("provider", [
      AwsAccount(),
      CloudflareAccount(),
      KubernetesCluster(),
      SshHost(),
      OtherPlace(),
    ])
    .openapi({ description: "Where a project is deployed to." }),
);
