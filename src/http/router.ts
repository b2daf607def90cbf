import { OpenAPIHono } from "@hono/zod-openapi";
import { BadInput, type Issue } from "../lib/errors.ts";
import { toIssues } from "./errors.ts";
import { explainParameter } from "./query-parameters.ts";

export type AnyRouter = ReturnType<typeof createRouter>;

/** The routes of a feature: an app of its own, which throws what it cannot answer. */
export function createRouter() {
  const app = new OpenAPIHono({
    defaultHook: (result, { req }) => {
      if (result.success) return;
      const issues = toIssues(result.error);
      if (result.target !== "query") throw new BadInput(issues);
      const valuesOf = ({ path }: Issue) => req.queries(path.split(".")[0] ?? "") ?? [];
      throw new BadInput(issues.map((each) => explainParameter(each, valuesOf(each))));
    },
  });
  app.onError((error) => {
    throw error;
  });
  return app;
}
