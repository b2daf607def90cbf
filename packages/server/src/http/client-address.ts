import ipaddr from "ipaddr.js";

type Address = ReturnType<typeof ipaddr.process>;
type Network = [Address, number];

/** Networks, such as those of trusted proxies. */
export class Networks {
  readonly #networks: readonly Network[];

  /** @throws TypeError that names the first text that is no network. */
  constructor(texts: readonly string[]) {
    this.#networks = texts.map(parseNetwork);
  }

  has(address: Address): boolean {
    return this.#networks.some((network) => {
      const [base] = network;
      return base.kind() === address.kind() && address.match(network as never);
    });
  }
}

/** `10.0.0.0/8`, or one address. */
function parseNetwork(text: string): Network {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  if (!ipaddr.isValid(text)) throw new TypeError(`"${text}" is not a network such as 10.0.0.0/8.`);
  const address = ipaddr.process(text);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}

/**
 * The address of the client: that of the socket, or, while each is a trusted proxy, the one that it says it received
 * the request from. What an untrusted address says about others is not believed.
 * @param forwarded The values of `X-Forwarded-For`, each proxy's after those before.
 */
export function clientAddress(socket: string, forwarded: string, trusted: Networks): string {
  let address = parseAddress(socket);
  if (!address) return socket;
  const entries = forwarded.split(",");
  while (trusted.has(address)) {
    const entry: string | undefined = entries.pop();
    const before: Address | undefined =
      entry === undefined ? undefined : parseAddress(entry.trim());
    if (!before) break;
    address = before;
  }
  return address.toString();
}

/** Some proxies add the port. An IPv4 address may be written as one of IPv6. */
function parseAddress(text: string): Address | undefined {
  const [, bracketed] = /^\[([^\]]+)\](?::\d+)?$/.exec(text) ?? [];
  const [, withPort] = /^([\d.]+):\d+$/.exec(text) ?? [];
  const address = bracketed ?? withPort ?? text.replace(/%.*$/, "");
  return ipaddr.isValid(address) && /[.:]/.test(address) ? ipaddr.process(address) : undefined;
}
