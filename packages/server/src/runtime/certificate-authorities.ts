import { readFileSync } from "node:fs";

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates of `NODE_EXTRA_CA_CERTS`: those of a company sign its identity provider. */
export function readCertificateAuthorities(file = process.env["NODE_EXTRA_CA_CERTS"]): string[] {
  if (!file) return [];
  return readFileSync(file, "utf8").match(CERTIFICATE) ?? [];
}
