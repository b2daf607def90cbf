import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import documentation from "../../../docs/audit-log.md?raw";
import { systemClock } from "../../../src/lib/clock.ts";
import { newId } from "../../../src/lib/ids.ts";
import { useService } from "../support/service.ts";

const RECORDS = 1_000;
const START = Date.parse("2024-03-01T00:00:00Z");
/** Not at the end of a line, and within the first, the second and a later page. */
const CUTS = [1, 40_001, 150_003];

const service = useService();
let directory: string;
let ids: string[];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "audit-export-"));
  ids = Array.from({ length: RECORDS }, () => newId(systemClock));
  await service.d1
    .prepare(
      `insert into audit_log (id, organization_id, created_at, action, outcome, actor_type,
         target_type, target_id, changes)
       select value, ?2, ?3 + key, 'project.updated', 'success', 'service', 'project', value,
         '{"after":{"name":"line\\nbreak \\"cursor\\":\\"x\\"}"}}' from json_each(?1)`,
    )
    .bind(JSON.stringify(ids), service.organizationId, START)
    .run();
});

afterAll(async () => {
  rmSync(directory, { recursive: true });
});

/** Breaks off the first responses after as many bytes as `CUTS` says. */
async function startCuttingProxy(): Promise<{ origin: string; stop(): void; requests: number }> {
  const proxy = { origin: "", requests: 0, stop: () => server.close() };
  const server = createServer(async (request, response) => {
    const cut = CUTS[proxy.requests];
    proxy.requests += 1;
    const headers = { "x-api-key": String(request.headers["x-api-key"]) };
    const reply = await fetch(new URL(String(request.url), service.url), { headers });
    const body = Buffer.from(await reply.arrayBuffer());
    response.writeHead(reply.status);
    if (cut === undefined) response.end(body);
    else response.write(body.subarray(0, cut), () => setTimeout(() => response.destroy(), 20));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  proxy.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}

it("the documented script gets every record once, however often the download breaks off", async () => {
  const [script = ""] = documentation.split("```sh\n").slice(-1);
  const commands = script
    .slice(0, script.indexOf("```"))
    .replace(/\?from=[^"]*/, "?from=2024-01-01T00:00:00Z&to=2025-01-01T00:00:00Z")
    .replace("sleep 5", "sleep 0");
  expect(commands).toContain("curl");
  const proxy = await startCuttingProxy();
  const env = {
    ...process.env,
    LONGSHORE_URL: proxy.origin,
    LONGSHORE_API_KEY: service.owner.key,
    ORG_ID: service.organizationId,
  };
  await promisify(execFile)("sh", ["-c", commands], { cwd: directory, env });
  proxy.stop();
  const lines = readFileSync(join(directory, "audit.ndjson"), "utf8").trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).id)).toEqual(ids);
  expect(proxy.requests).toBe(CUTS.length + 1);
});
