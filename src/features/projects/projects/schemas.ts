import { z } from "@hono/zod-openapi";
import { documented, EXAMPLE_IDS } from "#documented";
import { lazy } from "../../../lib/lazy.ts";
import { LIMITS } from "../../../lib/limits.ts";
import {
  CHANGED_FIELDS,
  clearable,
  component,
  identifierInput,
  nameInput,
  paragraphs,
} from "../../../lib/schemas.ts";
import { CONTROL_CHARACTERS, LINE, LONE_SURROGATES } from "../../../lib/text-patterns.ts";

const ICON = documented(
  () =>
    "The name of an icon, an emoji, or the URL of an image, with its type before it. No control " +
    "characters.",
);
export const REPO = documented(
  () => "The ID of the project's repository, which the service stores and does not check.",
);

const DEFAULT_ENVIRONMENT = documented(
  () => "The environment that clients show first, one of the project's own.",
);

export const Icon = lazy(() =>
  z
    .string()
    .max(LIMITS.urlLength.value, `Send at most ${LIMITS.urlLength.value} characters.`)
    .regex(/^(icon|emoji|url):(.+)$/, "Send icon:<name>, emoji:<character> or url:<address>.")
    .refine((icon) => icon.isWellFormed(), LONE_SURROGATES)
    .refine((icon) => LINE.test(icon), CONTROL_CHARACTERS)
    .openapi(documented(() => ({ description: ICON, example: "emoji:🚢" }))),
);
export const Name = lazy(() =>
  nameInput(LIMITS.nameLength.value).openapi(
    documented(() => ({
      description: "The name. It is unique in the organization.",
      example: "storefront",
    })),
  ),
);
export const Description = lazy(() =>
  paragraphs(LIMITS.descriptionLength.value).openapi(
    documented(() => ({
      description: "What the project is, in a few lines.",
      example: "The shop and its API.",
    })),
  ),
);

export const CreateProject = component("CreateProject", () =>
  z
    .strictObject({
      name: Name(),
      description: clearable(Description()),
      icon: clearable(Icon()),
      repo_id: clearable(identifierInput("repository")).openapi(
        documented(() => ({ description: REPO })),
      ),
    })
    .openapi(
      documented(() => ({
        description: "The project to create.",
        example: { name: "storefront", description: "The shop and its API.", icon: "emoji:🚢" },
      })),
    ),
);

export const ReplaceProject = component("ReplaceProject", () =>
  z
    .strictObject({
      default_environment_id: identifierInput("environment").openapi(
        documented(() => ({
          description: DEFAULT_ENVIRONMENT,
        })),
      ),
      name: Name()
        .optional()
        .openapi(documented(() => ({ description: "The display name. Absent: unchanged." }))),
      description: clearable(Description()).openapi(
        documented(() => ({
          description: "What the project is, in a few lines. Absent or null: cleared.",
        })),
      ),
      icon: clearable(Icon()).openapi(
        documented(() => ({ description: `${ICON} Absent or null: cleared.` })),
      ),
      repo_id: clearable(identifierInput("repository")).openapi(
        documented(() => ({
          description: `${REPO} Absent or null: cleared.`,
        })),
      ),
    })
    .openapi(
      documented(() => ({
        description: "All fields of a project that a request can set.",
        example: {
          default_environment_id: EXAMPLE_IDS.environment,
          name: "storefront",
          icon: "icon:ship",
        },
      })),
    ),
);

export const UpdateProject = component("UpdateProject", () =>
  z
    .strictObject({
      name: Name().optional(),
      description: Description()
        .nullable()
        .optional()
        .openapi(
          documented(() => ({
            description: "What the project is, in a few lines. Null: cleared.",
          })),
        ),
      icon: Icon()
        .nullable()
        .optional()
        .openapi(documented(() => ({ description: `${ICON} Null: cleared.` }))),
      repo_id: identifierInput("repository")
        .nullable()
        .optional()
        .openapi(documented(() => ({ description: `${REPO} Null: cleared.` }))),
      default_environment_id: identifierInput("environment")
        .optional()
        .openapi(
          documented(() => ({
            description: DEFAULT_ENVIRONMENT,
          })),
        ),
    })
    .openapi(
      documented(() => ({
        description: CHANGED_FIELDS,
        example: { name: "storefront-eu", description: null },
      })),
    ),
);
