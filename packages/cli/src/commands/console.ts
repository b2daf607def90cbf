import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { addExamples } from "../command-options.ts";
import { CliError } from "../errors.ts";
import { toLocalTime } from "../local-time.ts";
import { isInteractive } from "../prompts.ts";
import { type CliContext, openSession } from "../session.ts";

/** What opens a URL in the browser of the desktop. */
const OPENERS: Partial<Record<NodeJS.Platform, readonly [file: string, ...args: string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};
const OTHER_OPENER = ["xdg-open"] as const;
/** Some openers run as long as the browser. Failures come sooner. */
const FAILS_WITHIN_MS = 2_000;

/** `longshore console`. */
export function addConsoleCommand(program: Command, context: CliContext): void {
  addExamples(
    program
      .command("console")
      .description(
        "open the console in a browser, signed in with your API key; without a browser, print the link",
      ),
    "console",
    "console --profile staging",
  ).action((_, command: Command) => openConsole(context, command.optsWithGlobals()));
}

async function openConsole(context: CliContext, options: { profile?: string }): Promise<void> {
  const session = await openSession(context, options);
  const { url, expires_at } = await session.client.post("/v1/sign-in-links");
  // The opener would start a program for another scheme.
  if (!/^https?:\/\//.test(url)) throw new CliError(`${session.url} sent a link of another kind.`);
  if (hasBrowser(context) && (await openUrl(context, url))) {
    return context.output.note("Opened the console in your browser. Click Sign in there.");
  }
  context.output.note(
    `Open this link in a browser. It signs in once, until ${toLocalTime(expires_at)}.`,
  );
  context.output.print(url);
}

/** A program that reads the link, and a person over SSH, have no browser here. */
function hasBrowser(context: CliContext): boolean {
  const { DISPLAY, WAYLAND_DISPLAY, SSH_CONNECTION } = context.environment;
  const hasDesktop = OPENERS[process.platform] || DISPLAY || WAYLAND_DISPLAY;
  return isInteractive(context) && Boolean(hasDesktop) && !SSH_CONNECTION;
}

async function openUrl({ environment }: CliContext, url: string): Promise<boolean> {
  const [file, ...args] = OPENERS[process.platform] ?? OTHER_OPENER;
  const opener = spawn(file, [...args, url], {
    // The browser is not given the key.
    env: { ...environment, LONGSHORE_API_KEY: undefined } as unknown as NodeJS.ProcessEnv,
    stdio: "ignore",
    detached: true,
  });
  opener.unref();
  try {
    const [code] = await Promise.race([once(opener, "exit"), sleep(FAILS_WITHIN_MS, [0])]);
    return code === 0;
  } catch {
    return false;
  }
}
