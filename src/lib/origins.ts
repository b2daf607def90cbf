import ipaddr from "ipaddr.js";

/** The origins of a setting that `originsProblem` does not refuse. */
export function readOrigins(setting = ""): string[] {
  const origins = setting.split(",").map((origin) => origin.trim());
  return origins.length === 1 && origins[0] === "" ? [] : origins;
}

/**
 * What is wrong with a comma-separated list of origins, and what to do.
 * @param allowsInsecure Whether pages of local development are permitted, at `http:` and localhost.
 */
export function originsProblem(
  setting: string | undefined,
  allowsInsecure: boolean,
): string | undefined {
  for (const [index, origin] of readOrigins(setting).entries()) {
    const url = URL.parse(origin);
    const isOrigin = url?.origin === origin && !origin.includes("*");
    if (!isOrigin || !/^https?:$/.test(url.protocol)) {
      return (
        `Entry ${index + 1} is not an origin as browsers send it, such as https://console.example.com: ` +
        "lower case, without a path, a slash at the end or a default port. Correct it."
      );
    }
    if (url.protocol === "http:" && !(allowsInsecure && isLoopback(url.hostname))) {
      return (
        `Entry ${index + 1} is not https:. Correct it: http: is only for pages at localhost, while ` +
        "ALLOW_INSECURE_WEBHOOKS is true."
      );
    }
  }
  return undefined;
}

export function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  if (host === "localhost" || host.endsWith(".localhost")) return true;
  return ipaddr.isValid(host) && ipaddr.parse(host).range() === "loopback";
}
