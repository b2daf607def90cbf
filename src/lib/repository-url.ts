/** A Git repository as its URL names it. */
export interface RepositoryUrl {
  /** Without a slash at its end. */
  href: string;
  /** Scheme, host, port and path: equal for two URLs of one repository. */
  address: string;
  /** The last two segments of the path, without `.git`. Empty if there is one segment. */
  owner: string;
  repo: string;
}

export const SEND_REPOSITORY_URL =
  "Send the URL of a repository with https, ssh or file, without a password, such as " +
  "https://git.example.com/acme/shop.git.";

const PROTOCOLS = ["https:", "ssh:", "file:"];
const SSH_PORT = "22";

/**
 * Undefined: the URL is none of https, ssh and file, names no repository, or has a password, which everybody who reads
 * the deployment would see. Only ssh has a user name: it is part of where the repository is.
 */
export function parseRepositoryUrl(text: string): RepositoryUrl | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !PROTOCOLS.includes(url.protocol) || url.password !== "") return undefined;
  const { protocol, username, search, hash } = url;
  if ((username !== "" && protocol !== "ssh:") || search !== "" || hash !== "") return undefined;
  // URLs of ssh keep the case of the host and the default port.
  const hostname = url.hostname.toLowerCase();
  if ((hostname === "") !== (protocol === "file:")) return undefined;
  const port = url.port === "" || (protocol === "ssh:" && url.port === SSH_PORT) ? "" : url.port;
  const path = url.pathname.replace(/\/+$/, "");
  const [repo = "", owner = ""] = path.split("/").filter(Boolean).reverse();
  const name = repo.replace(/\.git$/, "");
  if (name === "") return undefined;
  const place = `${hostname}${port && `:${port}`}${path}`;
  return {
    href: `${protocol}//${username && `${username}@`}${place}`,
    address: `${protocol}//${place}`,
    owner,
    repo: name,
  };
}
