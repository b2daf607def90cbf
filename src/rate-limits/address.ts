const NETWORK_GROUPS = 4;
const GROUPS = 8;

/**
 * What counts as one client: an IPv4 address, or the /64 of an IPv6 address, because whoever has
 * one address of it has all of them.
 */
export function clientNetwork(address: string): string {
  const [, mapped] = /^::ffff:([\d.]+)$/i.exec(address) ?? [];
  if (mapped || !address.includes(":")) return mapped ?? address;
  const [head = "", tail] = address.toLowerCase().split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail ? tail.split(":") : [];
  const zeros = Array.from(
    { length: Math.max(0, GROUPS - before.length - after.length) },
    () => "0",
  );
  const groups = tail === undefined ? before : [...before, ...zeros, ...after];
  return groups
    .slice(0, NETWORK_GROUPS)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":");
}
