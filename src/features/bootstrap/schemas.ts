import { z } from "@hono/zod-openapi";
import { LIMITS } from "../../lib/limits.ts";
import { text } from "../../lib/schemas.ts";
import { AccountInput } from "../memberships/index.ts";

export const Bootstrap = z
  .strictObject({
    organization: z.strictObject({ name: text(LIMITS.nameLength.value) }),
    account: AccountInput,
  })
  .openapi("Bootstrap", {
    example: {
      organization: { name: "Acme" },
      account: { email: "ada@example.com", name: "Ada Lovelace" },
    },
  });
