import { z } from "@hono/zod-openapi";
import { LIMITS } from "../../../lib/limits.ts";
import { line, paragraphs, text } from "../../../lib/schemas.ts";

const PROVIDERS = ["github", "gitlab", "bitbucket"] as const;

const sourceText = (metadata: { description: string; example: string }) =>
  text(LIMITS.sourceLength.value).openapi(metadata);

const CommitPerson = z
  .strictObject({
    email: sourceText({
      description: "The address in the commit.",
      example: "mona@example.com",
    }).optional(),
    id: sourceText({
      description: "The person's ID at the code host.",
      example: "583231",
    }).optional(),
    login: sourceText({
      description: "The person's user name at the code host.",
      example: "octocat",
    }).optional(),
    name: line(LIMITS.sourceLength.value)
      .openapi({
        description: "The person's name in the commit, which may be empty.",
        example: "Mona",
      })
      .optional(),
  })
  .openapi("CommitPerson", {
    description: "A person, as far as the commit and the code host name them.",
    example: { login: "octocat", name: "Mona" },
  });

const Commit = z
  .strictObject({
    author: CommitPerson.openapi({ description: "Who wrote the change." }),
    committer: CommitPerson.openapi({ description: "Who added the commit to the repository." }),
    message: paragraphs(LIMITS.commitMessageLength.value).openapi({
      description: "The whole commit message, with its lines.",
      example: "Scale up",
    }),
    sha: sourceText({
      description: "The full hash of the commit.",
      example: "6dcb09b5b57875f334f61aebed695e2e4193db5e",
    }),
  })
  .openapi("Commit", { description: "A commit of a Git repository." });

const GitProvider = z
  .enum(PROVIDERS)
  .openapi("GitProvider", { description: "The code host of a repository." });

const Git = z
  .strictObject({
    commit: Commit,
    installation_id: sourceText({
      description: "The ID of your app's installation at the code host.",
      example: "48151623",
    }),
    owner: sourceText({
      description: "The account that owns the repository.",
      example: "acme",
    }),
    provider: GitProvider,
    pull_request: sourceText({
      description: "The number of the pull request. Absent: the commit is of no pull request.",
      example: "42",
    }).optional(),
    ref: sourceText({
      description: "The full name of the branch or tag.",
      example: "refs/heads/main",
    }),
    repo: sourceText({
      description: "The name of the repository, without its owner.",
      example: "shop",
    }),
    repo_id: sourceText({
      description: "The repository's ID at the code host.",
      example: "1296269",
    }),
  })
  .openapi("GitSource", { description: "A commit to build and deploy." });

const Registry = z
  .strictObject({
    command: z
      .array(paragraphs(LIMITS.commandWordLength.value))
      .max(LIMITS.commandWords.value, `Send at most ${LIMITS.commandWords.value} words.`)
      .optional()
      .openapi({
        description: "The words of the command to run. Absent: the image's own command.",
        example: ["node", "server.js"],
      }),
    image: sourceText({
      description: "The image, with its registry and tag.",
      example: "ghcr.io/acme/shop:1.4.2",
    }),
  })
  .openapi("RegistrySource", { description: "A container image to deploy." });

export const Source = z
  .strictObject({
    git: Git.optional().openapi({ description: "Absent: no commit is given." }),
    registry: Registry.optional().openapi({ description: "Absent: no image is given." }),
  })
  .openapi("DeploymentSource", {
    description: "What is deployed: a commit, an image, or both. Runners receive it unchanged.",
    example: { registry: { image: "ghcr.io/acme/shop:1.4.2" } },
  });
