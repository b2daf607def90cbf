import { z } from "@hono/zod-openapi";
import { documented } from "#documented";
import { LIMITS } from "../../../lib/limits.ts";
import { component, line, paragraphs, text } from "../../../lib/schemas.ts";

const PROVIDERS = ["github", "gitlab", "bitbucket"] as const;

const sourceText = (metadata: { description: string; example: string }) =>
  text(LIMITS.sourceLength.value).openapi(metadata);

const CommitPerson = component("CommitPerson", () =>
  z
    .strictObject({
      email: sourceText(
        documented(() => ({
          description: "The address in the commit.",
          example: "mona@example.com",
        })),
      ).optional(),
      id: sourceText(
        documented(() => ({ description: "The person's ID at the code host.", example: "583231" })),
      ).optional(),
      login: sourceText(
        documented(() => ({
          description: "The person's user name at the code host.",
          example: "octocat",
        })),
      ).optional(),
      name: line(LIMITS.sourceLength.value)
        .openapi(
          documented(() => ({
            description: "The person's name in the commit, which may be empty.",
            example: "Mona",
          })),
        )
        .optional(),
    })
    .openapi(
      documented(() => ({
        description: "A person, as far as the commit and the code host name them.",
        example: { login: "octocat", name: "Mona" },
      })),
    ),
);

const Commit = component("Commit", () =>
  z
    .strictObject({
      author: CommitPerson().openapi(documented(() => ({ description: "Who wrote the change." }))),
      committer: CommitPerson().openapi(
        documented(() => ({ description: "Who added the commit to the repository." })),
      ),
      message: paragraphs(LIMITS.commitMessageLength.value).openapi(
        documented(() => ({
          description: "The whole commit message, with its lines.",
          example: "Scale up",
        })),
      ),
      sha: sourceText(
        documented(() => ({
          description: "The full hash of the commit.",
          example: "6dcb09b5b57875f334f61aebed695e2e4193db5e",
        })),
      ),
    })
    .openapi(documented(() => ({ description: "A commit of a Git repository." }))),
);

const GitProvider = component("GitProvider", () =>
  z.enum(PROVIDERS).openapi(documented(() => ({ description: "The code host of a repository." }))),
);

const Git = component("GitSource", () =>
  z
    .strictObject({
      commit: Commit(),
      installation_id: sourceText(
        documented(() => ({
          description: "The ID of your app's installation at the code host.",
          example: "48151623",
        })),
      ),
      owner: sourceText(
        documented(() => ({
          description: "The account that owns the repository.",
          example: "acme",
        })),
      ),
      provider: GitProvider(),
      pull_request: sourceText(
        documented(() => ({
          description: "The number of the pull request. Absent: the commit is of no pull request.",
          example: "42",
        })),
      ).optional(),
      ref: sourceText(
        documented(() => ({
          description: "The full name of the branch or tag.",
          example: "refs/heads/main",
        })),
      ),
      repo: sourceText(
        documented(() => ({
          description: "The name of the repository, without its owner.",
          example: "shop",
        })),
      ),
      repo_id: sourceText(
        documented(() => ({
          description: "The repository's ID at the code host.",
          example: "1296269",
        })),
      ),
    })
    .openapi(documented(() => ({ description: "A commit to build and deploy." }))),
);

const Registry = component("RegistrySource", () =>
  z
    .strictObject({
      command: z
        .array(paragraphs(LIMITS.commandWordLength.value))
        .max(LIMITS.commandWords.value, `Send at most ${LIMITS.commandWords.value} words.`)
        .optional()
        .openapi(
          documented(() => ({
            description: "The words of the command to run. Absent: the image's own command.",
            example: ["node", "server.js"],
          })),
        ),
      image: sourceText(
        documented(() => ({
          description: "The image, with its registry and tag.",
          example: "ghcr.io/acme/shop:1.4.2",
        })),
      ),
    })
    .openapi(documented(() => ({ description: "A container image to deploy." }))),
);

export const Source = component("DeploymentSource", () =>
  z
    .strictObject({
      git: Git()
        .optional()
        .openapi(documented(() => ({ description: "Absent: no commit is given." }))),
      registry: Registry()
        .optional()
        .openapi(documented(() => ({ description: "Absent: no image is given." }))),
    })
    .openapi(
      documented(() => ({
        description: "What is deployed: a commit, an image, or both. Runners receive it unchanged.",
        example: { registry: { image: "ghcr.io/acme/shop:1.4.2" } },
      })),
    ),
);
