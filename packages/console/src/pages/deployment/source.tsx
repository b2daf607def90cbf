import type { Schemas } from "../../api.ts";
import { Time } from "../../components/time.tsx";
import { showHidden } from "../../format.ts";
import { ROOT } from "../../router.ts";
import { commitUrl, compareUrl } from "./commit-url.ts";

type Source = Schemas["DeploymentSource"];

const SHORT_SHA = 7;
const REF_KIND = /^refs\/(?:heads|tags)\//;
const DIGEST = /@sha256:(\w{7}).*/;
/** What fits on a button, in characters. */
const SHORT_NAME = 32;

/** Such as "main · 3f1c2aa", or the image. */
export function describeSource(source: Source | undefined): string {
  if (source?.git) {
    return showHidden(`${branchOf(source.git)} · ${shortShaOf(source.git)}`);
  }
  return source?.registry ? showHidden(source.registry.image) : "Without a source";
}

/** The branch or tag, without `refs/heads/`. */
export function branchOf({ ref }: Schemas["GitSource"]): string {
  return showHidden(ref.replace(REF_KIND, ""));
}

export function shortShaOf({ commit }: Schemas["GitSource"]): string {
  return showHidden(commit.sha.slice(0, SHORT_SHA));
}

/** The first line of the commit's message, else the image, else the reason. Undefined: there is none. */
export function titleOf({
  data: { source },
  reason,
}: Pick<Schemas["Deployment"], "data" | "reason">): string | undefined {
  const [message = ""] = source?.git?.commit.message.split("\n") ?? [];
  return message.trim() || source?.registry?.image.replace(DIGEST, "@$1") || reason;
}

/** The commit, else the image, else the reason, in a few characters. Undefined: there is none. */
export function shortNameOf(
  source: Source | undefined,
  reason: string | undefined,
): string | undefined {
  const image = source?.registry?.image.split("/").at(-1);
  const name =
    source?.git?.commit.sha.slice(0, SHORT_SHA) ?? image?.replace(DIGEST, "@$1") ?? reason;
  if (name === undefined) return undefined;
  const characters = [...name];
  const isLong = characters.length > SHORT_NAME;
  return showHidden(isLong ? `${characters.slice(0, SHORT_NAME - 1).join("")}…` : name);
}

/** The URL if the code host is unknown, else such as "acme/shop". */
export function repositoryName({ url, owner, repo }: Schemas["GitSource"]): string {
  return showHidden(url ?? `${owner}/${repo}`);
}

/** The short hash, which leads to its code host if that is known. */
export function CommitLink({ git }: { git: Schemas["GitSource"] }) {
  const url = commitUrl(git);
  const sha = <code>{shortShaOf(git)}</code>;
  if (url === undefined) return sha;
  return (
    <a href={url} target="_blank" rel="noreferrer">
      {sha}
    </a>
  );
}

interface SourceChangeProps {
  /** Undefined: there was nothing before. */
  before: Schemas["Deployment"] | undefined;
  after: Schemas["Deployment"];
  titles: readonly [before: string, after: string];
}

/** What ran and what is new, side by side, and the commits between them. */
export function SourceChange({ before, after, titles }: SourceChangeProps) {
  const url = compareUrl(before?.data.source?.git, after.data.source?.git);
  return (
    <>
      <dl class="pair">
        <div class="card">
          <dt class="soft small">{titles[0]}</dt>
          <dd>
            {before ? (
              <>
                <SourceDetails source={before.data.source} />
                <br />
                <a href={`${ROOT}deployments/${before.id}`} class="small">
                  Deployed <Time at={before.finished_at ?? before.created_at} />
                </a>
              </>
            ) : (
              "Nothing yet"
            )}
          </dd>
        </div>
        <div class="card">
          <dt class="soft small">{titles[1]}</dt>
          <dd>
            <SourceDetails source={after.data.source} />
          </dd>
        </div>
      </dl>
      {url !== undefined && (
        <p>
          <a href={url} target="_blank" rel="noreferrer">
            Compare the commits
          </a>
        </p>
      )}
    </>
  );
}

export function SourceDetails({ source }: { source: Source | undefined }) {
  if (!source?.git) return <span class="mono">{describeSource(source)}</span>;
  const { git } = source;
  const [title = ""] = git.commit.message.split("\n");
  const url = commitUrl(git);
  const commit = (
    <>
      <bdi>{repositoryName(git)}</bdi> {describeSource(source)}
    </>
  );
  return (
    <>
      {url === undefined ? (
        commit
      ) : (
        <a href={url} target="_blank" rel="noreferrer">
          {commit}
        </a>
      )}
      {source.registry && (
        <>
          {" "}
          <code>{showHidden(source.registry.image)}</code>
        </>
      )}
      {source.verified && <span class="soft"> verified by its CI job</span>}
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
