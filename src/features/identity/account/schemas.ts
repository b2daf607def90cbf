import { z } from "@hono/zod-openapi";
import { documented } from "#documented";
import { LIMITS } from "../../../lib/limits.ts";
import { component, nameInput, text } from "../../../lib/schemas.ts";
import { ProfileInput } from "../memberships/index.ts";

export const UpdateAccount = component("UpdateAccount", () =>
  z
    .strictObject({
      name: nameInput(LIMITS.personLength.value)
        .optional()
        .openapi(
          documented(() => ({ description: "The person's full name.", example: "Ada Lovelace" })),
        ),
      display_name: nameInput(LIMITS.personLength.value)
        .nullish()
        .openapi(
          documented(() => ({
            description:
              "What to call the person in lists. Null: the full name. One that equals the full name " +
              "changes with it.",
            example: "Ada",
          })),
        ),
      avatar: text(LIMITS.urlLength.value)
        .nullish()
        .openapi(
          documented(() => ({ description: "A URL of an image, or an emoji. Null: none." })),
        ),
      profile: z
        .union([ProfileInput(), z.null()])
        .optional()
        .openapi(
          documented(() => ({
            description:
              "Merged into the profile: an absent field stays, and null clears one. Null: clears all.",
          })),
        ),
    })
    .openapi(
      documented(() => ({
        description: "The fields to change. An absent field stays as it is.",
        example: { name: "Ada King", profile: { github: "ada", location: null } },
      })),
    ),
);
