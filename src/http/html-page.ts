import { html } from "hono/html";
import { toTimestamp } from "../lib/clock.ts";

export const ICON =
  "data:image/svg+xml," +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b5c66"/><path d="M10 8v16h13" fill="none" stroke="#fff" stroke-width="4" stroke-linecap="round" stroke-linejoin="round"/></svg>',
  );

const COLORS = `
:root {
  color-scheme: light dark;
  --page: #fff; --raised: #f6f8f9; --line: #e2e7ea; --text: #1c2327; --soft: #56636b;
  --accent: #0b6671; --accent-soft: #e4f2f3;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0f1417; --raised: #171e22; --line: #283237; --text: #dde4e7; --soft: #9aa7ae;
    --accent: #66c7d1; --accent-soft: #15303a;
  }
}`;

const TEXT = `
* { box-sizing: border-box; }
html { scroll-padding-top: 1.5rem; -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--page); color: var(--text);
  font: 400 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  overflow-wrap: break-word;
}
code, pre {
  font-family: ui-monospace, SFMono-Regular, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace;
}
code { font-size: .875em; overflow-wrap: anywhere; }
p code, li code { background: var(--raised); border-radius: .25rem; padding: .1em .3em; }
h1, h2, h3, h4 { line-height: 1.25; text-wrap: balance; margin: 0; }
h1 { font-size: 2.25rem; letter-spacing: -.025em; margin-bottom: 1.5rem; }
h2 { font-size: 1.625rem; letter-spacing: -.02em; margin-bottom: .75rem; }
h3 { font-size: 1.25rem; letter-spacing: -.01em; }
h4 { font-size: .9375rem; margin: 2rem 0 .25rem; }
p { margin: 0 0 1rem; text-wrap: pretty; }
ul { margin: 0; padding: 0; list-style: none; }
dl, dd { margin: 0; }
a { color: var(--accent); text-underline-offset: .2em; text-decoration-thickness: 1px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: .25rem; }
main:focus { outline: none; }`;

/** Colors and text of every page. */
export const PAGE_STYLE = COLORS + TEXT;

/** Of a page with one narrow column. */
export const NARROW_LAYOUT = `
main { max-width: 40rem; margin: 0 auto; padding: clamp(2rem, 10vh, 6rem) 1.5rem 2rem; }`;

interface PolicyOptions {
  /** Where forms go to. */
  formAction?: "none" | "self";
  /** Whether the page loads scripts from this origin, which send requests to it. */
  scripts?: boolean;
}

/** Allows this exact style, and nothing else that the options do not allow. */
export async function contentSecurityPolicy(
  style: string,
  { formAction = "none", scripts = false }: PolicyOptions = {},
): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style));
  const hash = btoa(String.fromCharCode(...new Uint8Array(digest)));
  return [
    "default-src 'none'",
    `style-src 'sha256-${hash}'`,
    ...(scripts ? ["script-src 'self'", "connect-src 'self'"] : []),
    "img-src data:",
    "base-uri 'none'",
    `form-action '${formAction}'`,
    "frame-ancestors 'none'",
  ].join("; ");
}

/** A time, to the minute. */
export function renderMinute(time: number) {
  const timestamp = toTimestamp(time);
  const [date, clock = ""] = timestamp.split("T");
  return html`<time datetime="${timestamp}">${date} ${clock.slice(0, "00:00".length)} UTC</time>`;
}
