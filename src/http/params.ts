import { z } from "@hono/zod-openapi";
import { canonicalId } from "../lib/ids.ts";
import { EXAMPLE_ID, IdentifierInput } from "../lib/schemas.ts";

export function idParam<Name extends string>(name: Name, what: string) {
  return {
    [name]: IdentifierInput.openapi({ param: { name, in: "path" }, description: `The ${what}.` }),
  } as Record<Name, typeof IdentifierInput>;
}

/** An identifier that the contract types as any text: an invalid one is not found, not bad input. */
export function textParam<Name extends string>(name: Name, what: string) {
  const schema = z
    .string()
    .transform((text) => canonicalId(text) ?? text)
    .openapi({ example: EXAMPLE_ID, param: { name, in: "path" } })
    .openapi({ description: `The ${what}.` });
  return { [name]: schema } as Record<Name, typeof schema>;
}

export const OrganizationParams = z.object(idParam("org_id", "organization"));
export const ProjectParams = z.object(idParam("project_id", "project"));
export const EnvironmentParams = z.object(idParam("environment_id", "environment"));
export const ComponentParams = z.object(idParam("component_id", "component"));
