import { z } from "@hono/zod-openapi";
import { canonicalId } from "../lib/ids.ts";
import { EXAMPLE_ID, IdentifierInput } from "../lib/schemas.ts";

/** A path parameter that follows the identifier form. */
export function idParam<Name extends string>(name: Name, what: string) {
  return {
    [name]: IdentifierInput.openapi({ param: { name, in: "path" }, description: `The ${what}.` }),
  } as Record<Name, typeof IdentifierInput>;
}

/**
 * A path parameter that the contract gives no form, in any of the three forms of an identifier. A
 * text of none of them names nothing.
 */
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
