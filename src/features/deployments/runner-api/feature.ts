import type { Feature } from "../../../feature.ts";

export const runnerApiFeature = {
  routes: [
    {
      paths: [
        "/v1/runner/claims",
        "/v1/runner/attempts",
        "/v1/runner/attempts/:attempt_id/start",
        "/v1/runner/attempts/:attempt_id/heartbeat",
        "/v1/runner/attempts/:attempt_id/variables",
        "/v1/runner/attempts/:attempt_id/stacks/:stack_id",
        "/v1/runner/attempts/:attempt_id/complete",
        "/v1/runner/attempts/:attempt_id/release",
      ],
      load: async () => (await import("./routes.ts")).runnerRoutes,
    },
  ],
} satisfies Feature;
