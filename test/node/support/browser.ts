import { type Browser, chromium as playwright } from "playwright-core";

/**
 * For functions without processes, where closing a page ends the browser; and without the security of
 * browsers, which would hide mistakes of the pages.
 */
const REFUSED =
  /^--(single-process|no-zygote|in-process-gpu|disable-web-security|allow-running-insecure-content)$/;

/** A Chromium without a window. Its npm package has builds for Linux on x64 only: elsewhere, Chrome starts. */
export async function launchBrowser(): Promise<Browser> {
  if (process.platform !== "linux" || process.arch !== "x64") {
    return playwright.launch({ channel: "chrome" });
  }
  // Makes the package unpack the shared libraries that it needs. It reads this when it is imported.
  process.env["AWS_LAMBDA_JS_RUNTIME"] ??= "nodejs22.x";
  const { default: chromium } = await import("@sparticuz/chromium");
  return playwright.launch({
    executablePath: await chromium.executablePath(),
    args: chromium.args.filter((each) => !REFUSED.test(each)),
  });
}
