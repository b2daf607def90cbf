import { isSafeUrl } from "../../../../src/lib/safe-url.ts";
import type { Schemas } from "../api.ts";
import { showHidden } from "../format.ts";

type Stack = Schemas["Stack"];

/** A link, if people may follow it. */
export function OutputUrl({ url }: { url: string }) {
  const text = showHidden(url);
  if (!isSafeUrl(url)) return <>{text}</>;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer">
      {text}
    </a>
  );
}

/** Where the last successes have deployed to. */
export function OutputUrls({ stacks = [] }: { stacks: readonly Stack[] | undefined }) {
  const urls = stacks.flatMap(({ id, name, outputs }) =>
    outputs?.["url"] === undefined ? [] : [{ id, name, url: outputs["url"] }],
  );
  if (urls.length === 0) return null;
  return (
    <ul aria-label="URLs">
      {urls.map(({ id, name, url }) => (
        <li key={id}>
          <span class="soft">{showHidden(name)}</span> <OutputUrl url={url} />
        </li>
      ))}
    </ul>
  );
}
