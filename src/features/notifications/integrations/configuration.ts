import { KINDS, type Kind } from "../events.ts";

/** Which kinds of notification an integration wants. */
export type Configuration = Record<Kind, boolean>;

/** Every kind with its flag; one that is not there is off. */
export function toConfiguration(flags: { [Name in Kind]?: boolean | undefined }): Configuration {
  const each = KINDS.map((kind) => [kind, flags[kind] ?? false] as const);
  return Object.fromEntries(each) as Configuration;
}
