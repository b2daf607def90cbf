import type { Credential } from "../contract.ts";

/** Longer lines do not fit beside the description. */
export const MAX_LINE = 56;

/** The variable that has the credential in the samples. */
export function credentialVariable({ id }: Credential): string {
  return `LONGSHORE_${id.toUpperCase()}`;
}

/** A word of a POSIX shell, quoted only if it has to be. */
export function quote(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** One command, with each further argument on a line of its own. */
export function joinArguments(parts: readonly string[]): string {
  return parts.join(" \\\n  ");
}
