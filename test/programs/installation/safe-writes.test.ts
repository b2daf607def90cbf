import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "../../../scripts/lib/wrangler.ts";
import { Checkout } from "../support/checkout.ts";
import { LONGSHORE } from "../support/page-commands.ts";
import { useService } from "../support/service.ts";
import { Terminal } from "../support/terminal.ts";

const page = readFileSync(join(ROOT, "docs/safe-writes.md"), "utf8");
/** The commands of each block, and what the page shows as their output. */
const blocks = [
  ...page.matchAll(/^```sh\n([\s\S]*?)^```$(?:\n\n^```text\n([\s\S]*?)^```$)?/gm),
].map(([, commands = "", shown = ""]) => ({ commands, shown }));

describe("docs/safe-writes.md", () => {
  const checkout = new Checkout();
  const service = useService();
  let terminal: Terminal;

  beforeAll(async () => {
    terminal = new Terminal(checkout.folder, {
      LONGSHORE_URL: service.url.origin,
      LONGSHORE_API_KEY: service.owner.key,
    });
  });

  afterAll(async () => {
    await terminal.interrupt();
    checkout.remove();
  });

  it("has commands that work as printed", async () => {
    expect(blocks.filter(({ shown }) => shown !== "")).toHaveLength(4);
    for (const { commands, shown } of blocks) {
      const { output, status } = await terminal.run(
        commands.replaceAll("npx @longshore/cli", LONGSHORE),
      );
      expect({ status, output }).toEqual({ status: 0, output: expect.stringContaining(shown) });
    }
  });
});
