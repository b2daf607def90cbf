import { z } from "@hono/zod-openapi";
import { LIMITS } from "../../../lib/limits.ts";
import { nameInput } from "../../../lib/schemas.ts";
import { AccountInput } from "../memberships/schemas.ts";

export const Bootstrap = z
  .strictObject({
    organization: z
      .strictObject({
        name: nameInput(LIMITS.nameLength.value).openapi({
          description: "The display name of the organization.",
          example: "Acme",
        }),
      })
      .openapi({ description: "The first organization of the installation." }),
    account: AccountInput.openapi({ description: "Its first member, with the role `owner`." }),
  })
  .openapi("Bootstrap", {
    description: "The first organization and the person who owns it.",
    example: {
      organization: { name: "Acme" },
      account: { email: "ada@example.com", name: "Ada Lovelace" },
    },
  });
