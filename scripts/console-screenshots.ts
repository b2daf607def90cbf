/** `npm run docs:screenshots`: takes a picture of each page of the console, for docs/console. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "../packages/client/src/index.ts";
import { bootstrap } from "../packages/server/src/first-key.ts";
import { newSecrets } from "../packages/server/src/secrets.ts";
import { launchBrowser } from "../test/programs/support/browser.ts";
import { runCommand } from "./lib/command.ts";
import { applyMigrations } from "./lib/migrations.ts";
import { bundle, start } from "./lib/workers.ts";
import { ROOT } from "./lib/wrangler.ts";
import { listPages } from "./seed/demo/pages.ts";
import { tellStory } from "./seed/demo/story.ts";

const FOLDER = join(ROOT, "docs/console");
const TALLEST = 1_000;
const SIZE = { width: 1200, height: 720 };

await runCommand(async () => {
  const folder = mkdtempSync(join(tmpdir(), "longshore-"));
  const secrets = newSecrets();
  const worker = await start(bundle("src/index.ts", folder), secrets, { assets: true });
  const browser = await launchBrowser();
  try {
    await applyMigrations(worker.d1);
    const key = (await bootstrap(worker.url.origin, secrets.BOOTSTRAP_TOKEN)) ?? "";
    const demo = await tellStory(worker.d1, worker.url.origin, key);
    const pages = await listPages(demo, createClient({ url: worker.url.origin, apiKey: key }));
    const context = await browser.newContext({ viewport: SIZE, reducedMotion: "reduce" });
    const sessions = new URL("/v1/sessions", worker.url).href;
    await context.request.post(sessions, { data: { api_key: key } });
    mkdirSync(FOLDER, { recursive: true });
    const page = await context.newPage();
    for (const { name, path } of pages) {
      await page.goto(new URL(`/console/${path}`, worker.url).href, { waitUntil: "load" });
      await page.waitForTimeout(1_000);
      const height: number = await page.evaluate("document.documentElement.scrollHeight");
      const clip = { x: 0, y: 0, width: SIZE.width, height: Math.min(height, TALLEST) };
      await page.screenshot({ path: join(FOLDER, `${name}.png`), fullPage: true, clip });
    }
    await context.clearCookies();
    await page.goto(new URL("/console/", worker.url).href);
    await page.waitForTimeout(500);
    await page.screenshot({ path: join(FOLDER, "sign-in.png") });
    return 0;
  } finally {
    await browser.close();
    await worker.stop();
    rmSync(folder, { recursive: true });
  }
});
