import ipaddr from "ipaddr.js";

/** The ports that a webhook may go to; the first is that of `https:`. */
const PORTS = ["", "443", "8443"];

/**
 * Domains that name nothing on the public Internet (RFC 2606, 6761, 6762, 7686, 8375, 9476), and
 * those that networks and clusters are wont to use inside.
 */
const INTERNAL_DOMAINS = [
  "alt",
  "arpa",
  "corp",
  "example",
  "home",
  "internal",
  "intranet",
  "invalid",
  "lan",
  "local",
  "localdomain",
  "localhost",
  "mail",
  "onion",
  "private",
  "svc",
  "test",
];

/** The IPv6 addresses that are routed (RFC 4291, 2.4); whatever is outside stands for no host. */
const GLOBAL_UNICAST = ipaddr.IPv6.parse("2000::");
const GLOBAL_UNICAST_BITS = 3;

/**
 * Why notifications must not be sent to a URL, or undefined if they may: they go to the public
 * Internet by `https:`, and never to an address or a name that could be inside of somebody's
 * network. With `allowInsecure`, for local development, `http:`, any port and any host will do.
 */
export function targetProblem(text: string, allowInsecure: boolean): string | undefined {
  const url = URL.parse(text);
  if (!url) return "Send an absolute URL, as https://example.com/hooks.";
  const { protocol, username, password, port, hash } = url;
  if (protocol !== "https:" && !(allowInsecure && protocol === "http:")) {
    return "Send a URL that begins with https://.";
  }
  if (username || password) return "Send a URL without a user name and a password.";
  if (hash) return "Send a URL without a fragment.";
  if (allowInsecure) return undefined;
  if (!PORTS.includes(port)) return "Send a URL with the port 443 or 8443, or without one.";
  return hostProblem(url.hostname);
}

/** A part of a path that is so long may be a token, as in the URLs that chat services give out. */
const TOKEN_LENGTH = 20;

/** What of a URL may be shown: all but its query and long parts of its path, for they may be secret. */
export function shownUrlOf(text: string): string {
  const { origin, pathname, search } = new URL(text);
  const parts = pathname.split("/").map((part) => (part.length < TOKEN_LENGTH ? part : "…"));
  return origin + parts.join("/") + (search && "?…");
}

function hostProblem(hostname: string): string | undefined {
  // The parser has made dotted decimals of every way to write an IPv4 address.
  const host = hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.+$/, "");
  if (ipaddr.isValid(host)) {
    return isPublic(host) ? undefined : "Send a URL of a host on the public Internet.";
  }
  const labels = host.split(".");
  const top = labels.at(-1) ?? "";
  if (labels.length < 2 || labels.includes("") || INTERNAL_DOMAINS.includes(top)) {
    return "Send a URL with a host name of the public Internet.";
  }
  return undefined;
}

/** Whether an address is public unicast, and not one that stands for another address. */
function isPublic(host: string): boolean {
  const address = ipaddr.parse(host);
  if (address.range() !== "unicast") return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST, GLOBAL_UNICAST_BITS);
}
