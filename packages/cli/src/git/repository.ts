import { parseRepositoryUrl } from "../../../../src/lib/repository-url.ts";
import type { Schemas } from "../../../client/src/index.ts";

type Provider = Schemas["GitProvider"];

/** A repository as the source of a deployment names it. */
export type NamedRepository =
  | { provider: Exclude<Provider, "git">; owner: string; repo: string }
  | { provider: "git"; url: string };

const PROVIDERS: Readonly<Record<string, Exclude<Provider, "git">>> = {
  "github.com": "github",
  "gitlab.com": "gitlab",
  "bitbucket.org": "bitbucket",
};
/** Such as `git@github.com:acme/shop.git` and `https://github.com/acme/shop`. */
const AT_HOST =
  /^(?:(?:https?|ssh|git):\/\/)?(?:[^@/\s]+@)?([\w.-]+)(?::\d+(?=\/))?[:/]+([\w.-]+(?:\/[\w.-]+)+)\/*$/;
/** The second form is for programs that git would start. */
const URL_START = /^[a-z]+:(?:\/\/|:)/i;
/** The short form of ssh, such as `git@git.example.com:acme/shop.git`. A single letter is a Windows drive. */
const SCP = /^(?:([\w.-]+)@)?([\w.-]{2,}):\/?([^/:].*)$/;

/** Undefined: the text is a path, or no runner could fetch from the URL. A password in the URL is left out. */
export function readRepository(text: string): NamedRepository | undefined {
  const [, host = "", path = ""] = AT_HOST.exec(text) ?? [];
  const provider = Object.hasOwn(PROVIDERS, host) ? PROVIDERS[host] : undefined;
  if (provider) {
    const [repo = "", ...owner] = path
      .replace(/\.git$/, "")
      .split("/")
      .reverse();
    return { provider, owner: owner.reverse().join("/"), repo };
  }
  const url = parseRepositoryUrl(toUrl(text))?.href;
  return url === undefined ? undefined : { provider: "git", url };
}

export function isPath(text: string): boolean {
  return !URL_START.test(text) && !SCP.test(text);
}

function toUrl(text: string): string {
  if (URL_START.test(text)) return withoutPassword(text);
  const [, user, host, path] = SCP.exec(text) ?? [];
  return host === undefined ? text : `ssh://${user === undefined ? "" : `${user}@`}${host}/${path}`;
}

function withoutPassword(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  url.password = "";
  if (url.protocol !== "ssh:") url.username = "";
  return url.href;
}

/** Such as "main" for "refs/heads/main". */
export function shortRef(ref: string): string {
  return ref.replace(/^refs\/(heads|tags)\//, "");
}
