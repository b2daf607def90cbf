import type { Feature } from "../../feature.ts";
import { LIMITS } from "../../lib/limits.ts";
import { valueContext } from "./model.ts";
import { variableRoutes } from "./routes.ts";
import { scopedVariableRoutes } from "./scoped-routes.ts";
import { variables } from "./table.ts";

export const variablesFeature = {
  tags: [
    {
      name: "Variables",
      description: "Encrypted values for components and environments.",
    },
  ],
  routes: { apiKey: [variableRoutes, scopedVariableRoutes] },
  quotas: { variables: LIMITS.variables.value },
  tables: [
    {
      table: variables,
      deletedWith: [variables.environmentId, variables.componentId, variables.projectId],
    },
  ],
  sealedColumns: [{ table: "variables", column: "value", contextOf: valueContext }],
} satisfies Feature;
