import { readFileSync } from "node:fs";
import { CommandError } from "../command-error.ts";

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates of `NODE_EXTRA_CA_CERTS`: those of a company sign its identity provider. */
export function readCertificateAuthorities(file = process.env["NODE_EXTRA_CA_CERTS"]): string[] {
  if (!file) return [];
  try {
    return readFileSync(file, "utf8").match(CERTIFICATE) ?? [];
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    throw new CommandError(`NODE_EXTRA_CA_CERTS names ${file}, which cannot be read (${reason}).`);
  }
}
