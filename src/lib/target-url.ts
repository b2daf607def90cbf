import ipaddr from "ipaddr.js";
import { isMasked, MASK } from "./mask-url.ts";

/** The empty port is the default port of `https:`. */
export const PORTS = ["", "443", "8443"];

/**
 * Top-level domains that do not exist on the public Internet (RFC 2606, 6761, 6762, 7686, 8375,
 * 9476), and those that private networks and clusters commonly use.
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

/** The only IPv6 addresses that are routed on the public Internet (RFC 4291, 2.4). */
const GLOBAL_UNICAST = ipaddr.IPv6.parse("2000::");
const GLOBAL_UNICAST_BITS = 3;

export const NOT_HTTPS = "Send a URL that begins with https://.";

/** `allowInsecure` is for local development: it allows `http:`, any port and any host. */
export function targetProblem(text: string, allowInsecure: boolean): string | undefined {
  const url = URL.parse(text);
  if (!url) return "Send an absolute URL, as https://example.com/hooks.";
  const { protocol, username, password, port, hash } = url;
  if (protocol !== "https:" && !(allowInsecure && protocol === "http:")) {
    return NOT_HTTPS;
  }
  if (username || password) return "Send a URL without a user name and a password.";
  if (hash) return "Send a URL without a fragment.";
  if (isMasked(url))
    return `Send a URL without ${MASK}, which stands for parts that are not shown.`;
  if (allowInsecure) return undefined;
  if (!PORTS.includes(port)) return "Send a URL with the port 443 or 8443, or without one.";
  return hostProblem(url.hostname);
}

function hostProblem(hostname: string): string | undefined {
  // The URL parser has normalized every notation of an IPv4 address to dotted decimal.
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

/** Public unicast that does not embed another address (as NAT64 does). */
function isPublic(host: string): boolean {
  const address = ipaddr.parse(host);
  if (address.range() !== "unicast") return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST, GLOBAL_UNICAST_BITS);
}
