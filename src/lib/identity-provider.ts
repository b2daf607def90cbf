import { isLoopback } from "./origins.ts";

/** This service as a client of the identity provider (OpenID Connect), as an operator has configured it. */
export interface ProviderSettings {
  issuer: URL;
  clientId: string;
  clientSecret: string;
}

type Settings = { readonly [Name in "OIDC_ISSUER" | "OIDC_CLIENT_ID"]?: string | undefined } & {
  readonly OIDC_CLIENT_SECRET?: string | undefined;
};

/**
 * Undefined unless all three settings are set. An issuer at http is accepted only at a loopback host, for a
 * request that came to one.
 */
export function readProviderSettings(
  settings: Settings,
  requestUrl: string,
): ProviderSettings | undefined {
  const { OIDC_ISSUER = "", OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = settings;
  const issuer = URL.parse(OIDC_ISSUER);
  if (!issuer || !clientId || !clientSecret) return undefined;
  const isLocal = isLoopback(issuer.hostname) && isLoopback(new URL(requestUrl).hostname);
  if (issuer.protocol !== "https:" && !(issuer.protocol === "http:" && isLocal)) return undefined;
  return { issuer, clientId, clientSecret };
}
