import { HOME_STYLE, STYLE } from "../../packages/reference/src/style.ts";
import { contentSecurityPolicy } from "../../src/http/html-page.ts";
import { CACHED_MS } from "../../src/http/page-files.ts";
import { STRICT_TRANSPORT_SECURITY } from "../../src/http/response-headers.ts";

/** Only the console's own files run, and they reach this origin only. */
const CONSOLE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const CACHED = `public, max-age=${CACHED_MS / 1_000}`;
const YEAR = "public, max-age=31536000, immutable";

/**
 * The file `_headers`: what the asset router sets, also for files that the Worker reads. If several rules have a
 * header, all values are sent, unless the later rule removes the earlier value with `!`.
 */
export async function renderAssetHeaders(): Promise<string> {
  const homePolicy = await contentSecurityPolicy(HOME_STYLE);
  const referencePolicy = await contentSecurityPolicy(STYLE, { scripts: true });
  const reference = [`Content-Security-Policy: ${referencePolicy}`, `Cache-Control: ${CACHED}`];
  return renderRules({
    // Browsers ignore the first one at `http:` (RFC 6797, section 8.1).
    "/*": [
      `Strict-Transport-Security: ${STRICT_TRANSPORT_SECURITY}`,
      "X-Content-Type-Options: nosniff",
      "Referrer-Policy: same-origin",
    ],
    "/": [`Content-Security-Policy: ${homePolicy}`, `Cache-Control: ${CACHED}`],
    "/docs": reference,
    "/docs/*": reference,
    "/favicon.ico": [`Cache-Control: ${CACHED}`],
    "/openapi.json": [`Cache-Control: ${CACHED}`],
    "/console/*": [`Content-Security-Policy: ${CONSOLE_POLICY}`, "Cache-Control: no-cache"],
    // Their names change with their content.
    "/console/assets/*": ["! Cache-Control", `Cache-Control: ${YEAR}`],
  });
}

function renderRules(rules: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(rules)
    .map(([path, headers]) => [path, ...headers.map((each) => `  ${each}`), ""].join("\n"))
    .join("\n");
}
