import { z } from "@hono/zod-openapi";
import { documented } from "#documented";
import { lazy } from "../../../lib/lazy.ts";
import { CHANGED_FIELDS, component, slug } from "../../../lib/schemas.ts";
import { COMPONENT_KINDS } from "./model.ts";

export const Name = lazy(() =>
  slug().openapi(documented(() => ({ description: "Unique in the environment.", example: "api" }))),
);

export const Kind = component("ComponentKind", () =>
  z.enum(COMPONENT_KINDS).openapi(
    documented(() => ({
      description:
        "A web service, a background worker, a job that runs to completion, or a static site.",
    })),
  ),
);

export const ComponentInput = component("ComponentInput", () =>
  z.strictObject({ name: Name(), kind: Kind() }).openapi(
    documented(() => ({
      description: "All fields of a component that a request can set.",
      example: { name: "api", kind: "service" },
    })),
  ),
);

export const UpdateComponent = component("UpdateComponent", () =>
  z.strictObject({ name: Name().optional(), kind: Kind().optional() }).openapi(
    documented(() => ({
      description: CHANGED_FIELDS,
      example: { name: "worker", kind: "worker" },
    })),
  ),
);
