import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../http/pagination.ts";
import { LIMITS } from "../../lib/limits.ts";
import {
  clearable,
  EXAMPLE_ID,
  Identifier,
  IdentifierInput,
  paragraphs,
  Timestamp,
  text,
} from "../../lib/schemas.ts";
import { CONNECTION_STATUSES } from "./model.ts";

const Icon = z
  .string()
  .max(LIMITS.urlLength.value, `Send at most ${LIMITS.urlLength.value} characters.`)
  .regex(/^(icon|emoji|url):(.+)$/, "Send icon:<name>, emoji:<character> or url:<address>.")
  .refine((icon) => icon.isWellFormed(), "Send a text without lone surrogates.")
  .refine((icon) => !/\p{Cc}/u.test(icon), "Send a text without control characters.")
  .openapi({ example: "emoji:🚢" });
const Name = text(LIMITS.nameLength.value).openapi({ example: "storefront" });
const Description = paragraphs(LIMITS.descriptionLength.value).openapi({
  example: "The shop and its API.",
});

export const Project = z
  .object({
    id: Identifier,
    org_id: Identifier.openapi({ description: "The organization that owns the project." }),
    name: Name,
    description: Description.optional(),
    icon: Icon.optional(),
    repo_id: Identifier.optional(),
    default_environment_id: Identifier,
    connection_status: z
      .enum(CONNECTION_STATUSES)
      .openapi({ description: "Whether the project is connected to a cloud provider." }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .openapi("Project");

export const ProjectList = envelopeOf(Project, "ProjectList");

export const CreateProject = z
  .strictObject({
    name: Name,
    description: clearable(Description),
    icon: clearable(Icon),
    repo_id: clearable(IdentifierInput),
  })
  .openapi("CreateProject", {
    example: { name: "storefront", description: "The shop and its API.", icon: "emoji:🚢" },
  });

export const ReplaceProject = z
  .strictObject({
    default_environment_id: IdentifierInput.openapi({
      description: "An environment of the project.",
    }),
    name: Name.optional().openapi({ description: "Absent: unchanged." }),
    description: clearable(Description).openapi({ description: "Absent: cleared." }),
    icon: clearable(Icon).openapi({ description: "Absent: cleared." }),
    repo_id: clearable(IdentifierInput).openapi({ description: "Absent: cleared." }),
  })
  .openapi("ReplaceProject", {
    example: { default_environment_id: EXAMPLE_ID, name: "storefront", icon: "icon:ship" },
  });
