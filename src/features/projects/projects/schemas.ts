import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { EXAMPLE_IDS } from "../../../lib/example-ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import {
  CHANGED_FIELDS,
  clearable,
  identifierInput,
  identifierOf,
  nameInput,
  paragraphs,
  timestampOf,
} from "../../../lib/schemas.ts";
import { CONTROL_CHARACTERS, LINE, LONE_SURROGATES } from "../../../lib/text-patterns.ts";
import { CONNECTION_STATUSES } from "../../tenancy/model.ts";

const ICON =
  "The name of an icon, an emoji, or the URL of an image, with its type before it. No control " +
  "characters.";
export const REPO =
  "The ID of the project's repository, which the service stores and does not check.";

const DEFAULT_ENVIRONMENT = "The environment that clients show first, one of the project's own.";

export const Icon = z
  .string()
  .max(LIMITS.urlLength.value, `Send at most ${LIMITS.urlLength.value} characters.`)
  .regex(/^(icon|emoji|url):(.+)$/, "Send icon:<name>, emoji:<character> or url:<address>.")
  .refine((icon) => icon.isWellFormed(), LONE_SURROGATES)
  .refine((icon) => LINE.test(icon), CONTROL_CHARACTERS)
  .openapi({ description: ICON, example: "emoji:🚢" });
export const Name = nameInput(LIMITS.nameLength.value).openapi({
  description: "The name. It is unique in the organization.",
  example: "storefront",
});
export const Description = paragraphs(LIMITS.descriptionLength.value).openapi({
  description: "What the project is, in a few lines.",
  example: "The shop and its API.",
});

export const CreateProject = z
  .strictObject({
    name: Name,
    description: clearable(Description),
    icon: clearable(Icon),
    repo_id: clearable(identifierInput("repository")).openapi({ description: REPO }),
  })
  .openapi("CreateProject", {
    description: "The project to create.",
    example: { name: "storefront", description: "The shop and its API.", icon: "emoji:🚢" },
  });

export const ReplaceProject = z
  .strictObject({
    default_environment_id: identifierInput("environment").openapi({
      description: DEFAULT_ENVIRONMENT,
    }),
    name: Name.optional().openapi({ description: "The display name. Absent: unchanged." }),
    description: clearable(Description).openapi({
      description: "What the project is, in a few lines. Absent or null: cleared.",
    }),
    icon: clearable(Icon).openapi({ description: `${ICON} Absent or null: cleared.` }),
    repo_id: clearable(identifierInput("repository")).openapi({
      description: `${REPO} Absent or null: cleared.`,
    }),
  })
  .openapi("ReplaceProject", {
    description: "All fields of a project that a request can set.",
    example: {
      default_environment_id: EXAMPLE_IDS.environment,
      name: "storefront",
      icon: "icon:ship",
    },
  });

export const UpdateProject = z
  .strictObject({
    name: Name.optional(),
    description: Description.nullable().optional().openapi({
      description: "What the project is, in a few lines. Null: cleared.",
    }),
    icon: Icon.nullable()
      .optional()
      .openapi({ description: `${ICON} Null: cleared.` }),
    repo_id: identifierInput("repository")
      .nullable()
      .optional()
      .openapi({ description: `${REPO} Null: cleared.` }),
    default_environment_id: identifierInput("environment").optional().openapi({
      description: DEFAULT_ENVIRONMENT,
    }),
  })
  .openapi("UpdateProject", {
    description: CHANGED_FIELDS,
    example: { name: "storefront-eu", description: null },
  });

const ConnectionStatus = z.enum(CONNECTION_STATUSES).openapi("ConnectionStatus", {
  description:
    "Whether a project is connected to a cloud provider. Only a `connected` project can be " +
    "deployed; `disconnecting` lasts until its unfinished deployments have ended.",
});

export const Project = z
  .object({
    id: identifierOf("project", "The project's own ID."),
    org_id: identifierOf("organization", "The organization that owns the project."),
    name: Name,
    description: Description.optional(),
    icon: Icon.optional(),
    repo_id: identifierOf("repository", `${REPO} Absent: none.`).optional(),
    default_environment_id: identifierOf(
      "environment",
      "The environment that clients show first. It cannot be deleted.",
    ),
    connection_status: ConnectionStatus,
    created_at: timestampOf("When the project was created."),
    updated_at: timestampOf("When a field of the project last changed."),
  })
  .openapi("Project", { description: "What a team ships. It contains environments." });

export const ProjectList = envelopeOf(Project, "ProjectList");
