/** A block of addresses: its first, and how many bits all of them begin with. */
type Block = readonly [first: string, bits: number];

/** Not public unicast, or standing for other addresses (IANA's special-purpose registry). */
const RESERVED_V4: readonly Block[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.31.196.0", 24],
  ["192.52.193.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["192.175.48.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  // Multicast, reserved and broadcast.
  ["224.0.0.0", 3],
];

/** The IPv6 addresses that are routed (RFC 4291, 2.4); whatever is outside stands for no host. */
const GLOBAL_UNICAST: Block = ["2000::", 3];

/** What of those is not public, or stands for IPv4: the same registry. */
const RESERVED_V6: readonly Block[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["2620:4f:8000::", 48],
  ["3fff::", 20],
];

/**
 * Whether a host, as a URL has it once parsed, is an address on the public Internet; undefined for
 * a name. The parser makes dotted decimals of every way to write an IPv4 address, and lowercase
 * groups in brackets of an IPv6 one.
 */
export function isPublicAddress(host: string): boolean | undefined {
  if (/^\d+(\.\d+){3}$/.test(host)) return !RESERVED_V4.some((block) => isWithin(host, block, v4));
  const address = /^\[(.+)\]$/.exec(host)?.[1];
  if (address === undefined) return undefined;
  return (
    isWithin(address, GLOBAL_UNICAST, v6) &&
    !RESERVED_V6.some((block) => isWithin(address, block, v6))
  );
}

interface Reading {
  /** The first so many bits of an address, which is as long as blocks get. */
  bits: number;
  read(text: string): number;
}

const v4: Reading = {
  bits: 32,
  read: (text) => text.split(".").reduce((sum, part) => sum * 256 + Number(part), 0),
};

const v6: Reading = {
  bits: 48,
  read: (text) => {
    const [left = [], right = []] = text.split("::").map((part) => part.split(":").filter(Boolean));
    const zeros = Array.from({ length: 8 - left.length - right.length }, () => "0");
    const [a, b, c] = [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16));
    return ((a ?? 0) * 65_536 + (b ?? 0)) * 65_536 + (c ?? 0);
  },
};

function isWithin(text: string, [first, bits]: Block, { bits: all, read }: Reading): boolean {
  const size = 2 ** (all - bits);
  return Math.floor(read(text) / size) === Math.floor(read(first) / size);
}
