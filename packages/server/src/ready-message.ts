/** What only the first start has, and one with `--new-key`. */
export interface NewAccess {
  apiKey: string;
  signInLink: string;
}

/** Printed when the server listens. A key is shown once, because only its hash is stored. */
export function readyMessage(url: string, data: string, access: NewAccess | undefined): string {
  const lines = [
    "",
    "  Longshore is ready.",
    "",
    `  Address  ${url}`,
    `  Docs     ${url}/docs`,
    ...(access ? describeAccess(access) : [`  Console  ${url}/console/`]),
    `  Data     ${data}`,
    "           Back it up: longshore-server backup FILE. Keep secrets.env, too.",
    "",
  ];
  return lines.join("\n");
}

function describeAccess({ apiKey, signInLink }: NewAccess): string[] {
  return [
    `  API key  ${apiKey}`,
    "           Save it now: it is not shown again.",
    `  Console  ${signInLink}`,
    "           Signs in. It works once, within 10 minutes.",
  ];
}
