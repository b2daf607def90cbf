import { isLoopback } from "./origins.ts";

/** This service as a client of the identity provider (OpenID Connect), as an operator has configured it. */
export interface ProviderSettings {
  issuer: URL;
  clientId: string;
  clientSecret: string;
}

export interface IdentityProviderSettings {
  readonly OIDC_ISSUER?: string | undefined;
  readonly OIDC_CLIENT_ID?: string | undefined;
  readonly OIDC_CLIENT_SECRET?: string | undefined;
}

const HOW_TO_DISABLE =
  "Or clear OIDC_ISSUER and OIDC_CLIENT_ID, for no sign-in with OpenID Connect.";

/** What is wrong with the settings, by their names. None if neither the issuer nor the client is set. */
export function identityProviderProblems(
  settings: IdentityProviderSettings,
  allowsInsecure: boolean,
): { name: keyof IdentityProviderSettings; message: string }[] {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId } = settings;
  if (!issuer && !clientId) return [];
  const missing = (["OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET"] as const)
    .filter((name) => !settings[name])
    .map((name) => ({
      name,
      message: `It is not set. Set it (docs/sign-in.md). ${HOW_TO_DISABLE}`,
    }));
  if (!issuer || isIssuer(issuer, allowsInsecure)) return missing;
  const message = "It is no https: URL without a user, a query and a fragment. Correct it.";
  return [...missing, { name: "OIDC_ISSUER" as const, message: `${message} ${HOW_TO_DISABLE}` }];
}

/** Undefined without an identity provider. The settings are those that the Worker runs with. */
export function readProviderSettings(
  settings: IdentityProviderSettings,
): ProviderSettings | undefined {
  const { OIDC_ISSUER, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = settings;
  if (!OIDC_ISSUER || !clientId || !clientSecret) return undefined;
  return { issuer: new URL(OIDC_ISSUER), clientId, clientSecret };
}

function isIssuer(text: string, allowsInsecure: boolean): boolean {
  const url = URL.parse(text);
  if (!url || url.username || url.password || url.search || url.hash) return false;
  const isLocal = allowsInsecure && isLoopback(url.hostname);
  return url.protocol === "https:" || (url.protocol === "http:" && isLocal);
}
