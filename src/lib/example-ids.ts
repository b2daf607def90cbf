import { BASE58 } from "./radix.ts";
import type { ChangedType, TargetType } from "./resource-types.ts";

/** In the OpenAPI document, one ID stands for the same resource everywhere. */
export const EXAMPLE_IDS = {
  organization: "1CfiqFR7M6S38z94Y2usEL",
  account: "1Cfo6KUc4VFzXW7PgzEXZF",
  membership: "1CfpGx3oGJQzy3gYEoz2YP",
  apiKey: "1CfrKuhzvvc8GfuDyU5wWz",
  project: "1CfvyrdE3swnumqQc5jCRM",
  repository: "1Cfx1LTKtUKeF5B2hRbYoC",
  environment: "1CfxKdwWcfEyrDeRPtCDxJ",
  /** Of the environment from which a deployment is promoted to `environment`. */
  stagingEnvironment: "1CfypZztYHKeqD35Z1CY1i",
  component: "1Cg1Q5Rp8ge1z6ozVPXUsy",
  stack: "1Cg38jbq6cZAbs5tGiyPJx",
  variable: "1Cg4dffD1ishzVFEtps3vf",
  runnerPool: "1Cg6SuCmeUhdfoSqQkGqSX",
  runnerToken: "1Cg6vMS3jJrtD2F1Jx3vne",
  runner: "1Cg6wQd5kLfuE3G2K2y4pg",
  integration: "1Cg8yK6FQpG43h8EDMqZ3E",
  stagingDeployment: "1CgB6r7zmpUseRM3TQDrFT",
  deployment: "1CgDnQkZtH6hVJuWg8P7W9",
  approval: "1CgEr4WnYp6ZsTq2XkVbHd",
  attempt: "1CgFzX9rvZEa7RMhfCBxr4",
  resource: "1CgKTqVtrA4RJQ8McBDYRS",
  event: "1CgNThcegWHbhpNQB1L8Jj",
  delivery: "1CgPFTL7UeTsxphVyHHXSf",
  recovery: "1CgPzX7rWm3nVhTk9LdBcQ",
  invitation: "1Cg5ZDvX9xhTrxC3WqbHLb",
  serviceAccount: "1Cg5mJtqN7yYk2RrTWv3sD",
  trust: "1Cg7UqP2dY4nZbKx8VhGtM",
  session: "1Cg5bWz8mKq3TnRv6HxPdY",
  signInLink: "1Cg5dLk2VfJ9sYc4BtGwNq",
  externalId: "1CgB2t7ZrKx5VnWq8YdLmP",
  auditRecord: "1CgRkWm5sT9vXcLd3JfBzN",
  changelogEntry: "1CgQuY8akfz7QnnHApfdSd",
} as const;

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

export type ExampleKind = keyof typeof EXAMPLE_IDS | CamelCase<ChangedType | TargetType>;

const LISTED: { readonly [Kind in ExampleKind]?: string } = EXAMPLE_IDS;

/** That of a type which the table does not list follows from its name. */
export function exampleId(kind: ExampleKind): string {
  return LISTED[kind] ?? idFrom(kind);
}

function idFrom(name: string): string {
  const letters = Array.from({ length: 19 }, (_, at) => {
    return BASE58.charAt((name.charCodeAt(at % name.length) * (at + 1)) % BASE58.length);
  });
  return `1Ch${letters.join("")}`;
}

/** The secrets that the OpenAPI document shows. */
export const EXAMPLE_SECRETS = {
  apiKey: `lsh_${EXAMPLE_IDS.apiKey}_8aspm4G7VmSUfOoD6V1vrORcmn0iSHkpEby6vK111fY0yuOhD`,
  signInLink: `lsl_${EXAMPLE_IDS.signInLink}_7Rk2mWq9TzB4xYcLd8sNhJ6vFgA3pUeXi5oQbKtZrM1nCyEwS`,
  invitation: `lsi_${EXAMPLE_IDS.invitation}_5VbT1nQ8wZk3RrYxJd0sLhG7cFmA2pKeU9iXoB4tWvN6yEqzP`,
};

export const EXAMPLE_REQUEST_ID = "5f0c8a52-6f0e-4a53-9d0f-3f8e0f6d2b17";

/** What is wrong with a secret, and what the operator has to do. */
export const EXAMPLE_REFUSAL = "It is not set. Set it to the output of `openssl rand -hex 32`.";
