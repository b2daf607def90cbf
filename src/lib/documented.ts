import { OpenAPIRegistry } from "@asteasolutions/zod-to-openapi";
import type { z } from "zod";

export { EXAMPLE_IDS, EXAMPLE_SECRETS, exampleId } from "./example-ids.ts";

/** The named schemas that have been built. */
export const COMPONENTS = new OpenAPIRegistry();

/** Names a schema in the OpenAPI document. */
export function register<Schema extends z.ZodType>(name: string, schema: Schema): Schema {
  return COMPONENTS.register(name, schema);
}

/** What the OpenAPI document says of a schema that the Worker checks. The Worker has undocumented.ts instead. */
export function documented<const Metadata extends object | string>(
  create: () => Metadata,
): Metadata {
  return create();
}

/** The indexes of a table without a composite primary key, which only `npm run db:generate` reads. The Worker has none. */
export function migrated<Indexes>(indexes: Indexes): Indexes {
  return indexes;
}
