import type { Schemas } from "../../api.ts";
import { showHidden } from "../../format.ts";
import { commitUrl } from "./commit-url.ts";

type Source = Schemas["DeploymentSource"];

const SHORT_SHA = 7;
const DIGEST = /@sha256:(\w{7}).*/;
/** What fits on a button, in characters. */
const SHORT_NAME = 32;

/** Such as "main · 3f1c2aa", or the image. */
export function describeSource(source: Source | undefined): string {
  if (source?.git) {
    return showHidden(`${source.git.ref} · ${source.git.commit.sha.slice(0, SHORT_SHA)}`);
  }
  return source?.registry ? showHidden(source.registry.image) : "Without a source";
}

/** The commit, else the image, else the reason, in a few characters. Undefined: there is none. */
export function shortNameOf({
  data: { source },
  reason,
}: Pick<Schemas["Deployment"], "data" | "reason">): string | undefined {
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
