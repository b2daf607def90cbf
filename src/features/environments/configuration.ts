export const CONFIGURATION_BYTES = 256 * 1024;

/** A JSON document that deployments change. */
export type Configuration = Record<string, unknown>;

/** What keeps a configuration from being stored, in words; undefined if nothing does. */
export function configurationProblem(configuration: Configuration): string | undefined {
  const json = JSON.stringify(configuration);
  if (new TextEncoder().encode(json).byteLength > CONFIGURATION_BYTES) {
    return `Send a configuration of at most ${CONFIGURATION_BYTES} bytes of JSON.`;
  }
  return undefined;
}
