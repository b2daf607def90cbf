import { z } from "@hono/zod-openapi";
import { apiRoute } from "../../../http/api-route.ts";
import { createRouter } from "../../../http/router.ts";
import { INVALID_TOKEN, NO_METRICS, readMetrics } from "./service.ts";

/** Prometheus's text format. */
const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

const read = apiRoute({
  method: "get",
  path: "/metrics",
  operationId: "readMetrics",
  page: true,
  tags: ["Service"],
  summary: "Read the metrics of the deployment",
  access: "public",
  responses: {
    200: { description: "Gauges.", content: { "text/plain": { schema: z.string() } } },
  },
  errors: { no_metrics: NO_METRICS, invalid_metrics_token: INVALID_TOKEN },
});

export const metricRoutes = createRouter().openapi(read, async (c) => {
  const text = await readMetrics(c.var.ctx, c.req.header("authorization"));
  return c.text(text, 200, { "content-type": CONTENT_TYPE });
});
