import { z } from "@hono/zod-openapi";
import { documented } from "#documented";
import { lazy } from "../../../lib/lazy.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { CHANGED_FIELDS, component, nameInput } from "../../../lib/schemas.ts";

export const Name = lazy(() =>
  nameInput(LIMITS.nameLength.value).openapi(
    documented(() => ({
      description: "The display name. It need not be unique.",
      example: "Acme",
    })),
  ),
);

export const CreateOrganization = component("CreateOrganization", () =>
  z
    .strictObject({ name: Name() })
    .openapi(
      documented(() => ({ description: "The organization to create.", example: { name: "Acme" } })),
    ),
);

export const UpdateOrganization = component("UpdateOrganization", () =>
  z.strictObject({ name: Name().optional() }).openapi(
    documented(() => ({
      description: CHANGED_FIELDS,
      example: { name: "Acme Inc." },
    })),
  ),
);
