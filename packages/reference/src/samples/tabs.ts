import { html } from "hono/html";
import type { Html } from "../markdown.ts";

const LANGUAGES = [
  { id: "curl", name: "curl" },
  { id: "cli", name: "CLI" },
  { id: "typescript", name: "TypeScript" },
] as const;

/** All visible; the script shows one of them. */
export function renderTabs(panels: Record<(typeof LANGUAGES)[number]["id"], Html>): Html {
  return html`<div data-tabs="language">${LANGUAGES.map(
    ({ id, name }) => html`<section data-tab="${id}" aria-label="${name}">${panels[id]}</section>`,
  )}</div>`;
}
