import type { Schemas } from "../../api.ts";
import { showHidden } from "../../format.ts";

type Source = Schemas["DeploymentSource"];

const SHORT_SHA = 7;

const ORIGINS = {
  github: "https://github.com",
  gitlab: "https://gitlab.com",
  bitbucket: "https://bitbucket.org",
} as const;

const COMMIT_PATHS = { github: "commit", gitlab: "-/commit", bitbucket: "commits" } as const;

/** Such as "main · 3f1c2aa", or the image. */
export function describeSource(source: Source | undefined): string {
  if (source?.git) {
    return showHidden(`${source.git.ref} · ${source.git.commit.sha.slice(0, SHORT_SHA)}`);
  }
  return source?.registry ? showHidden(source.registry.image) : "Without a source";
}

/** The commit at its provider. */
export function commitUrl(git: NonNullable<Source["git"]>): string {
  const path = [git.owner, git.repo].map(encodeURIComponent).join("/");
  const sha = encodeURIComponent(git.commit.sha);
  return `${ORIGINS[git.provider]}/${path}/${COMMIT_PATHS[git.provider]}/${sha}`;
}

export function SourceDetails({ source }: { source: Source | undefined }) {
  if (!source?.git) return <span class="mono">{describeSource(source)}</span>;
  const { git } = source;
  const [title = ""] = git.commit.message.split("\n");
  return (
    <>
      <a href={commitUrl(git)} target="_blank" rel="noreferrer">
        <bdi>{showHidden(`${git.owner}/${git.repo}`)}</bdi> {describeSource(source)}
      </a>
      <br />
      <bdi>{showHidden(title)}</bdi>
      {git.commit.author.name && (
        <span class="soft">
          {" "}
          by <bdi>{showHidden(git.commit.author.name)}</bdi>
        </span>
      )}
    </>
  );
}
