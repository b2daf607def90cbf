import { sealedColumn } from "../../../db/sealed-column.ts";
import type { Feature } from "../../../feature.ts";
import { valueContext } from "./model.ts";
import { variableRoutes } from "./routes.ts";
import { scopedVariableRoutes } from "./scoped-routes.ts";
import { variables } from "./table.ts";

const { id, organizationId, projectId, environmentId, componentId } = variables;

export const variablesFeature = {
  routes: { apiKey: [variableRoutes, scopedVariableRoutes] },
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
