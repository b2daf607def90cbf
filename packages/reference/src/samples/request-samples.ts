import { html } from "hono/html";
import type { Operation } from "../contract.ts";
import { renderSample } from "../example.ts";
import type { Html } from "../markdown.ts";
import type { Schemas } from "../schemas.ts";
import { isSentByCli, renderCli } from "./cli.ts";
import { renderCurl } from "./curl.ts";
import { type ExampleRequest, exampleRequest } from "./request.ts";
import { renderTabs } from "./tabs.ts";
import { renderTypeScript } from "./typescript.ts";

export function renderRequestSamples(operation: Operation, schemas: Schemas): Html {
  const request = exampleRequest(operation, schemas);
  const render = (language: string, code: string) =>
    renderSample(language, `${language}: ${operation.summary}`, code);
  const cli = renderCli(request);
  return renderTabs({
    curl: render("curl", renderCurl(request)),
    cli: cli ? render("CLI", cli) : html`<p class="absent">${whyNoCli(request)}</p>`,
    typescript: render("TypeScript", renderTypeScript(request, schemas)),
  });
}

function whyNoCli({ operation }: ExampleRequest): string {
  if (operation.sendsText) return "longshore api sends JSON only: use curl or TypeScript.";
  if (operation.credential && !isSentByCli(operation.credential)) {
    return "longshore api sends API keys and runner tokens only: use curl or TypeScript.";
  }
  return "longshore api prints JSON only: use curl or TypeScript.";
}
