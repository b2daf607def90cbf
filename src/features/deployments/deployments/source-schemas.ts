import { z } from "@hono/zod-openapi";
import { LIMITS } from "../../../lib/limits.ts";
import { parseRepositoryUrl, SEND_REPOSITORY_URL } from "../../../lib/repository-url.ts";
import { line, paragraphs, text } from "../../../lib/schemas.ts";

const PROVIDERS = ["github", "gitlab", "bitbucket", "git"] as const;

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

const GitProvider = z.enum(PROVIDERS).openapi("GitProvider", {
  description: "The code host of a repository. `git`: any Git server, which `url` names.",
});

/** What a request and a response describe in the same words. */
const GIT_FIELDS = {
  commit: Commit,
  pull_request: sourceText({
    description: "The number of the pull request. Absent: the commit is of no pull request.",
    example: "42",
  }).optional(),
  ref: sourceText({
    description: "The full name of the branch or tag.",
    example: "refs/heads/main",
  }),
};

const ownerOf = (owner: z.ZodString) =>
  owner.openapi({ description: "The account that owns the repository.", example: "acme" });
const repoOf = (repo: z.ZodString) =>
  repo.openapi({ description: "The name of the repository, without its owner.", example: "shop" });
const INSTALLATION = "The ID of your app's installation at the code host.";
const REPOSITORY = "The repository's ID at the code host.";
const URL_OF_GIT = {
  description:
    "Only with the provider `git`: the URL of the repository, with https, ssh or file and without a password. " +
    "`owner` and `repo` follow from it.",
  example: "https://git.example.com/acme/shop.git",
};

const optionalText = (description: string, example: string) =>
  line(LIMITS.sourceLength.value).optional().openapi({ description, example });

const GitInput = z
  .strictObject({
    ...GIT_FIELDS,
    installation_id: optionalText(INSTALLATION, "48151623"),
    owner: ownerOf(line(LIMITS.sourceLength.value)).optional(),
    provider: GitProvider,
    repo: repoOf(text(LIMITS.sourceLength.value)).optional(),
    repo_id: optionalText(REPOSITORY, "1296269"),
    url: text(LIMITS.sourceLength.value).optional().openapi(URL_OF_GIT),
  })
  .transform((git, ctx) => {
    const named = git.provider === "git" ? readUrl(git) : readNames(git);
    if ("problems" in named) {
      for (const [field = "", message] of Object.entries(named.problems)) {
        ctx.addIssue({ code: "custom", path: [field], message });
      }
      return z.NEVER;
    }
    return {
      ...git,
      installation_id: git.installation_id ?? "",
      repo_id: git.repo_id ?? "",
      ...named,
    };
  })
  .openapi("GitSourceInput", {
    description:
      "A commit to build and deploy. `owner` and `repo` are required, except for the provider `git`.",
  });

interface Named {
  owner?: string | undefined;
  repo?: string | undefined;
  url?: string | undefined;
}
type Names = { owner: string; repo: string; url?: string } | { problems: Record<string, string> };

function readNames({ owner, repo, url }: Named): Names {
  const problems = {
    ...(!owner && { owner: "Send the account that owns the repository." }),
    ...(!repo && { repo: "Send the name of the repository." }),
    ...(url !== undefined && { url: "Send a url only with the provider git." }),
  };
  return owner && repo && url === undefined ? { owner, repo } : { problems };
}

/** A response has the owner and the name, so they may be sent back. */
function readUrl({ owner, repo, url = "" }: Named): Names {
  const found = parseRepositoryUrl(url);
  if (!found) return { problems: { url: SEND_REPOSITORY_URL } };
  const problems = {
    ...((owner ?? found.owner) !== found.owner && { owner: FROM_URL }),
    ...((repo ?? found.repo) !== found.repo && { repo: FROM_URL }),
  };
  const isSame = Object.keys(problems).length === 0;
  return isSame ? { owner: found.owner, repo: found.repo, url: found.href } : { problems };
}

const FROM_URL = "Leave it out: it follows from the url.";

const Git = z
  .object({
    ...GIT_FIELDS,
    installation_id: z
      .string()
      .openapi({ description: `${INSTALLATION} Empty: unknown.`, example: "48151623" }),
    owner: ownerOf(z.string()),
    provider: GitProvider,
    repo: repoOf(z.string()),
    repo_id: z
      .string()
      .openapi({ description: `${REPOSITORY} Empty: unknown.`, example: "1296269" }),
    url: z.string().optional().openapi(URL_OF_GIT),
  })
  .openapi("GitSource", { description: "A commit that is built and deployed." });

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

const NO_COMMIT = "Absent: no commit is given.";
const REGISTRY = Registry.optional().openapi({ description: "Absent: no image is given." });
const WHAT = "What is deployed: a commit, an image, or both. Runners receive it unchanged.";
const EXAMPLE = { registry: { image: "ghcr.io/acme/shop:1.4.2" } };

export const SourceInput = z
  .strictObject({
    git: GitInput.optional().openapi({ description: NO_COMMIT }),
    registry: REGISTRY,
  })
  .openapi("DeploymentSourceInput", { description: WHAT, example: EXAMPLE });

export const Source = z
  .object({
    git: Git.optional().openapi({ description: NO_COMMIT }),
    registry: REGISTRY,
    verified: z
      .literal(true)
      .optional()
      .openapi({
        description:
          "The token of the CI job that created the deployment names the same repository, ref and commit. Absent: " +
          "not verified.",
      }),
  })
  .openapi("DeploymentSource", { description: WHAT, example: EXAMPLE });
