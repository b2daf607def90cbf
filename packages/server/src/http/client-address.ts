import { BlockList, isIP } from "node:net";

const BITS = { 4: 32, 6: 128 } as const;
/** An IPv4 address as one of IPv6 (RFC 4291, section 2.5.5.2). */
const MAPPED = /^::ffff:(?=[\d.]+$)/i;

/** Networks, such as those of trusted proxies. */
export class Networks {
  /** Each with the length of its prefix. */
  readonly cidrs: readonly string[];
  readonly #list = new BlockList();

  /** @throws TypeError that names the first text that is no network. */
  constructor(texts: readonly string[]) {
    this.cidrs = texts.map((text) => {
      const { address, prefix, family } = parseNetwork(text);
      this.#list.addSubnet(address, prefix, family);
      return `${address}/${prefix}`;
    });
  }

  has(address: string): boolean {
    return this.#list.check(address, familyOf(address));
  }
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 4 ? "ipv4" : "ipv6";
}

/** `10.0.0.0/8`, or one address. */
function parseNetwork(text: string) {
  const [address = "", length, ...rest] = text.split("/");
  const version = isIP(address);
  const bits = version === 0 ? 0 : BITS[version as 4 | 6];
  const prefix = Number(length ?? bits);
  const isNetwork = bits > 0 && rest.length === 0 && /^\d*$/.test(length ?? "") && length !== "";
  if (isNetwork && prefix <= bits && !MAPPED.test(address)) {
    return { address, prefix, family: familyOf(address) };
  }
  throw new TypeError(`"${text}" is not a network such as 10.0.0.0/8.`);
}

/**
 * The address of the client: that of the socket, or, while each is a trusted proxy, the one that it says it received
 * the request from. What an untrusted address says about others is not believed.
 * @param forwarded The values of `X-Forwarded-For`, each proxy's after those before.
 */
export function clientAddress(socket: string, forwarded: string, trusted: Networks): string {
  let address = parseAddress(socket);
  if (address === undefined) return socket;
  const entries = forwarded.split(",");
  while (trusted.has(address)) {
    const before = parseAddress(entries.pop()?.trim() ?? "");
    if (before === undefined) break;
    address = before;
  }
  return address;
}

/** Some proxies add the port. A link-local address may have a zone. */
function parseAddress(text: string): string | undefined {
  const [, bracketed] = /^\[([^\]]+)\](?::\d+)?$/.exec(text) ?? [];
  const [, withPort] = /^([\d.]+):\d+$/.exec(text) ?? [];
  const address = (bracketed ?? withPort ?? text).replace(/%.*$/, "").replace(MAPPED, "");
  return isIP(address) === 0 ? undefined : address;
}
