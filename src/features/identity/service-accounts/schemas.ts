import { z } from "@hono/zod-openapi";
import { documented } from "#documented";
import { idParam } from "../../../http/params.ts";
import { lazy } from "../../../lib/lazy.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { component, nameInput } from "../../../lib/schemas.ts";
import { NEVER_OWNER, SERVICE_ACCOUNT_ROLES } from "./model.ts";

export const Name = lazy(() =>
  nameInput(LIMITS.nameLength.value).openapi(
    documented(() => ({
      description: "The program that the service account is for.",
      example: "release-bot",
    })),
  ),
);

const Role = component("ServiceAccountRole", () =>
  z.enum(SERVICE_ACCOUNT_ROLES, NEVER_OWNER).openapi(
    documented(() => ({
      description: "The role in the organization: admin > member.",
    })),
  ),
);

export const CreateServiceAccount = component("CreateServiceAccount", () =>
  z.strictObject({ name: Name(), role: Role() }).openapi(
    documented(() => ({
      description: "The service account to create.",
      example: { name: "release-bot", role: "member" },
    })),
  ),
);

export const UpdateServiceAccount = component("UpdateServiceAccount", () =>
  z
    .strictObject({
      name: Name()
        .optional()
        .openapi(documented(() => ({ description: "Absent: the name stays." }))),
      role: Role()
        .optional()
        .openapi(documented(() => ({ description: "Absent: the role stays." }))),
    })
    .openapi(
      documented(() => ({
        description: "What a request can change.",
        example: { name: "release-bot-2", role: "member" },
      })),
    ),
);

export const ServiceAccountParams = lazy(() =>
  z.object({
    ...idParam("org_id", "organization", "organization"),
    ...idParam("membership_id", "service account", "membership"),
  }),
);
