import { ORIGIN } from "../../../../src/http/page-files.ts";
import { NPM_SCOPE } from "../../../../src/lib/addresses.ts";
import type { Credential } from "../contract.ts";
import { renderSample } from "../example.ts";
import type { Html } from "../markdown.ts";
import { isSentByCli } from "./cli.ts";
import { credentialVariable } from "./shell.ts";
import { renderTabs } from "./tabs.ts";

const CREATE_CLIENT = `import { createClient } from "${NPM_SCOPE}/client";

const longshore = createClient({
  url: "${ORIGIN}",
  apiKey: process.env["LONGSHORE_API_KEY"],
});`;

const ADDRESS = `export LONGSHORE_URL="${ORIGIN}"`;

/** What the other samples need. */
export function renderSetup(credentials: readonly Credential[]): Html {
  const names = credentials.map(credentialVariable);
  const forCli = credentials.filter(isSentByCli).map(credentialVariable);
  const render = (language: string, code: string) => {
    const title = `Before the samples with ${language}`;
    return renderSample(title, title, code);
  };
  return renderTabs({
    curl: render("curl", names.map(renderExport).join("\n")),
    cli: render("CLI", [ADDRESS, ...forCli.map(renderExport)].join("\n")),
    typescript: render("TypeScript", CREATE_CLIENT),
  });
}

function renderExport(name: string): string {
  return `export ${name}="…"`;
}
