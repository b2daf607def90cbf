import { html } from "hono/html";
import type { Credential } from "../contract.ts";
import { renderSample } from "../example.ts";
import type { Html } from "../markdown.ts";
import { ORIGIN } from "./origin.ts";
import { credentialVariable } from "./shell.ts";
import { renderTabs } from "./tabs.ts";

const CREATE_CLIENT = `import { createClient } from "@longshore/client";

const longshore = createClient({
  url: "${ORIGIN}",
  apiKey: process.env["LONGSHORE_API_KEY"],
});`;

/** What the other samples need. */
export function renderSetup(credentials: readonly Credential[]): Html {
  const title = "Set these for the samples";
  const variables = credentials.map(credentialVariable).map((name) => `export ${name}="…"`);
  const address = `export LONGSHORE_URL="${ORIGIN}"`;
  const render = (language: string, code: string) =>
    renderSample(title, `${title}: ${language}`, code);
  return html`${renderTabs({
    curl: render("curl", variables.join("\n")),
    cli: render("CLI", [address, ...variables].join("\n")),
    typescript: render("TypeScript", CREATE_CLIENT),
  })}`;
}
