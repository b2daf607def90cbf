import { z } from "@hono/zod-openapi";
import { documented } from "#documented";
import { LIMITS } from "../../../lib/limits.ts";
import { component, nameInput } from "../../../lib/schemas.ts";
import { AccountInput } from "../memberships/index.ts";

export const Bootstrap = component("Bootstrap", () =>
  z
    .strictObject({
      organization: z
        .strictObject({
          name: nameInput(LIMITS.nameLength.value).openapi(
            documented(() => ({
              description: "The display name of the organization.",
              example: "Acme",
            })),
          ),
        })
        .openapi(
          documented(() => ({ description: "The first organization of the installation." })),
        ),
      account: AccountInput().openapi(
        documented(() => ({ description: "Its first member, with the role `owner`." })),
      ),
    })
    .openapi(
      documented(() => ({
        description: "The first organization and the person who owns it.",
        example: {
          organization: { name: "Acme" },
          account: { email: "ada@example.com", name: "Ada Lovelace" },
        },
      })),
    ),
);
