import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium as playwright } from "playwright-core";

/**
 * For functions without processes, where closing a page ends the browser; for a GPU, which is emulated; and
 * without the security of browsers, which would hide mistakes of the pages.
 */
const REFUSED =
  /^--(single-process|no-zygote|in-process-gpu|use-gl=.*|use-angle=.*|ignore-gpu-blocklist|enable-unsafe-swiftshader|disable-web-security|allow-running-insecure-content)$/;

/** Of the package, which unpacks into a folder of its version. */
const UNPACKED = join(tmpdir(), "longshore-chromium-153.0.0");

const FONT_SETTINGS = "longshore-fonts.conf";

/** Those of the package name folders of another system. Chromium crashes without a font. */
function fontSettings(): string {
  return `<?xml version="1.0"?>
<fontconfig><dir>${join(UNPACKED, "fonts")}</dir><cachedir>${join(UNPACKED, "font-cache")}</cachedir></fontconfig>
`;
}

/** Of this process, which runs one file after another. */
let shared: Promise<Browser> | undefined;

/** The browser of all files of this process, until it ends. */
export function openBrowser(): Promise<Browser> {
  shared ??= launchBrowser();
  return shared;
}

/** A Chromium without a window. Its npm package has Linux on x64 only: elsewhere, Chrome starts. */
export async function launchBrowser(): Promise<Browser> {
  if (process.platform !== "linux" || process.arch !== "x64") {
    return playwright.launch({ channel: "chrome" });
  }
  const args = await unpack();
  return playwright.launch({
    executablePath: join(UNPACKED, "chromium"),
    // The emulated GPU takes a quarter of the CPU time.
    args: [...args.filter((each) => !REFUSED.test(each)), "--disable-gpu"],
    env: {
      ...process.env,
      LD_LIBRARY_PATH: join(UNPACKED, "al2023/lib"),
      FONTCONFIG_FILE: join(UNPACKED, FONT_SETTINGS),
    },
  });
}

/**
 * Returns the arguments of the package. It unpacks into the folder for temporary files, where another
 * process would find half of a browser: so it unpacks elsewhere, and the result is renamed.
 */
async function unpack(): Promise<string[]> {
  const environment = { ...process.env };
  const staging = mkdtempSync(`${UNPACKED}-`);
  try {
    // Makes the package unpack the shared libraries too. It reads this when it is imported.
    process.env["AWS_LAMBDA_JS_RUNTIME"] = "nodejs22.x";
    process.env["TMPDIR"] = staging;
    const { default: chromium } = await import("@sparticuz/chromium");
    if (!existsSync(UNPACKED)) {
      await chromium.executablePath();
      writeFileSync(join(staging, FONT_SETTINGS), fontSettings());
      if (!existsSync(UNPACKED)) renameSync(staging, UNPACKED);
    }
    return chromium.args;
  } finally {
    rmSync(staging, { recursive: true, force: true });
    restore(environment);
  }
}

/** Importing the package sets variables, too. */
function restore(environment: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) {
    if (!(name in environment)) delete process.env[name];
  }
  Object.assign(process.env, environment);
}
