import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { findFreePort } from "../../../scripts/lib/port.ts";
import { ROOT } from "../../../scripts/lib/wrangler.ts";
import { InstalledServer, OwnServer } from "../support/own-server.ts";

const LIBRARY = "/usr/local/lib/longshore/";
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const image = read("Dockerfile");
const installed = new InstalledServer();

afterAll(() => installed.remove());

/** The values of an instruction that is JSON. */
function listOf(instruction: string): string[] {
  const [, list = "[]"] = new RegExp(`^\\s*${instruction} (\\[.*\\])$`, "m").exec(image) ?? [];
  return JSON.parse(list);
}

describe("the image of the server", () => {
  it("starts with its entrypoint and its environment, and says when it is healthy", async (context) => {
    const [program = "", file = "", ...args] = listOf("ENTRYPOINT");
    expect([program, args]).toEqual(["node", []]);
    expect(file.startsWith(LIBRARY)).toBe(true);
    expect(installed.program.endsWith(file.slice(LIBRARY.length))).toBe(true);
    expect(image).toMatch(/^ENV LONGSHORE_DATA=\/data LONGSHORE_HOST=0\.0\.0\.0$/m);
    const environment = { LONGSHORE_DATA: installed.path("data"), LONGSHORE_HOST: "0.0.0.0" };
    const refused = await installed.run([], { environment });
    expect(refused.output).toContain("0.0.0.0 is reached by others.");
    const port = await findFreePort();
    const url = ["--url", "https://longshore.example.com", "--port", String(port)];
    const server = new OwnServer(installed, url, { environment, port });
    context.onTestFinished(async () => {
      await server.stop();
    });
    await server.waitFor("Longshore is ready.");
    const [, , check = ""] = listOf("CMD");
    const script = check.replace("8787", String(port));
    expect(script).not.toBe(check);
    expect(() => execFileSync(process.execPath, ["-e", script])).not.toThrow();
    const nothing = check.replace("8787", String(await findFreePort()));
    expect(() => execFileSync(process.execPath, ["-e", nothing], { stdio: "ignore" })).toThrow();
  });

  it("runs as another user than root, and writes to its data only", () => {
    expect(image).toMatch(/^USER 1000:1000$/m);
    expect(image).toMatch(/^VOLUME \/data$/m);
    expect(image).toMatch(/^STOPSIGNAL SIGTERM$/m);
    expect(image).toMatch(/^ARG NODE_IMAGE=node:24\./m);
    const { services } = parse(read("examples/server/compose.yaml"));
    expect(services.longshore).toMatchObject({ read_only: true, stop_grace_period: "30s" });
    expect(Object.keys(services)).toEqual(["longshore", "caddy", "runner"]);
    const unit = read("examples/server/longshore.service");
    expect(unit).toMatch(/^TimeoutStopSec=30$/m);
    expect(unit).toMatch(/^ProtectSystem=strict$/m);
  });
});
