import { z } from "@hono/zod-openapi";
import type { ExampleKind } from "../lib/example-ids.ts";
import { exampleId } from "../lib/example-ids.ts";
import { canonicalId } from "../lib/ids.ts";
import { identifierInput } from "../lib/schemas.ts";

export function idParam<Name extends string>(name: Name, what: string, example: ExampleKind) {
  return {
    [name]: identifierInput(example).openapi({
      param: { name, in: "path" },
      description: `The ID of the ${what}.`,
    }),
  } as Record<Name, ReturnType<typeof identifierInput>>;
}

/** An identifier that the contract types as any text. An invalid one is `not_found`, not `bad_input`. */
export function textParam<Name extends string>(name: Name, what: string, example: ExampleKind) {
  const schema = z
    .string()
    .transform((text) => canonicalId(text) ?? text)
    .openapi({ example: exampleId(example), param: { name, in: "path" } })
    .openapi({ description: `The ID of the ${what}.` });
  return { [name]: schema } as Record<Name, typeof schema>;
}

export const OrganizationParams = z.object(idParam("org_id", "organization", "organization"));
export const ProjectParams = z.object(idParam("project_id", "project", "project"));
export const EnvironmentParams = z.object(idParam("environment_id", "environment", "environment"));
export const ComponentParams = z.object(idParam("component_id", "component", "component"));
export const RunnerPoolParams = z.object({
  ...idParam("org_id", "organization", "organization"),
  ...idParam("pool_id", "runner pool", "runnerPool"),
});
