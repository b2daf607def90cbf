import { networkInterfaces } from "node:os";
import { Networks } from "../http/client-address.ts";

/** Where the Worker's own requests may go, as workerd takes it. */
export interface OutgoingNetwork {
  allow: readonly string[];
  deny: readonly string[];
}

/** For tests of network devices (RFC 2544). workerd counts it as public. */
const TEST_NETWORK = "198.18.0.0/15";

/**
 * The internet, without this machine and its network: any member can name the URL of a webhook. For workerd, a public
 * address of this machine is as any other.
 * @param allowed Private networks that the operator has named.
 */
export function internetAnd(allowed: Networks): OutgoingNetwork {
  const own = Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.map(({ address }) => address.replace(/%.*$/, "")),
  );
  const denied = new Networks([...own.filter((each) => !allowed.has(each)), TEST_NETWORK]);
  return { allow: ["public", ...allowed.cidrs], deny: denied.cidrs };
}
