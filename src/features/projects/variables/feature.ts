import { sealedColumn } from "../../../db/sealed-column.ts";
import type { Feature } from "../../../feature.ts";
import { valueContext } from "./model.ts";
import { variables } from "./table.ts";

const { id, organizationId, projectId, environmentId, componentId } = variables;

export const variablesFeature = {
  routes: [
    {
      paths: ["/v1/variables/:variable_id", "/v1/variables/:variable_id/value"],
      load: async () => (await import("./routes.ts")).variableRoutes,
    },
    {
      paths: [
        "/v1/components/:component_id/variables",
        "/v1/components/:component_id/variables/values",
        "/v1/environments/:environment_id/variables",
        "/v1/environments/:environment_id/variables/values",
      ],
      load: async () => (await import("./scoped-routes.ts")).scopedVariableRoutes,
    },
  ],
  tables: [
    {
      table: variables,
      deletedWith: [variables.environmentId, variables.componentId, variables.projectId],
    },
  ],
  sealedColumns: [
    sealedColumn(
      variables.value,
      { id, organizationId, projectId, environmentId, componentId },
      valueContext,
    ),
  ],
} satisfies Feature;
