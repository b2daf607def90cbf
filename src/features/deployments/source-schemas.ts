import { z } from "@hono/zod-openapi";
import { LIMITS } from "../../lib/limits.ts";
import { paragraphs, text } from "../../lib/schemas.ts";

const PROVIDERS = ["github", "gitlab", "bitbucket"] as const;

const Word = text(LIMITS.sourceLength.value);

const Person = z
  .strictObject({
    email: Word.optional(),
    id: Word.optional(),
    login: Word.optional(),
    name: Word.optional(),
  })
  .openapi("CommitPerson", { example: { login: "octocat", name: "Mona" } });

const Commit = z
  .strictObject({
    author: Person,
    committer: Person,
    message: paragraphs(LIMITS.commitMessageLength.value).openapi({ example: "Scale up" }),
    sha: Word.openapi({ example: "6dcb09b5b57875f334f61aebed695e2e4193db5e" }),
  })
  .openapi("Commit");

const Git = z
  .strictObject({
    commit: Commit,
    installation_id: Word,
    owner: Word,
    provider: z.enum(PROVIDERS),
    pull_request: Word.optional(),
    ref: Word.openapi({ example: "refs/heads/main" }),
    repo: Word,
    repo_id: Word,
  })
  .openapi("GitSource");

const Registry = z
  .strictObject({
    command: z
      .array(paragraphs(LIMITS.commandWordLength.value))
      .max(LIMITS.commandWords.value, `Send at most ${LIMITS.commandWords.value} words.`)
      .optional(),
    image: Word.openapi({ example: "ghcr.io/acme/shop:1.4.2" }),
  })
  .openapi("RegistrySource");

/** What is deployed (spec, "Deployment"). */
export const Source = z
  .strictObject({ git: Git.optional(), registry: Registry.optional() })
  .openapi("DeploymentSource", { example: { registry: { image: "ghcr.io/acme/shop:1.4.2" } } });
