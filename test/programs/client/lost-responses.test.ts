import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, it } from "vitest";
import { newClient, useService } from "../support/service.ts";

const VALUE = "postgres://app@db/shop";
/** Fewer than the rate limit of reveals allows in a minute. */
const DISCONNECTS = 25;

const service = useService();
let path: string;

beforeAll(async () => {
  const { owner } = service;
  const project = await owner.call("POST", "/v1/projects", { name: "storefront" });
  const variable = await owner.call(
    "POST",
    `/v1/environments/${project.default_environment_id}/variables`,
    { name: "URL", storage_method: "secret", value: VALUE },
  );
  path = `/v1/variables/${variable.id}/value`;
});

async function countRecords(): Promise<number> {
  const revealed = "select count(*) as n from audit_log where action = 'variable.revealed'";
  return Number(await service.d1.prepare(revealed).first("n"));
}

/** Sends a reveal and closes the connection after this time; returns what arrived. */
async function revealAndDisconnect(key: string, afterMs: number): Promise<string> {
  const socket = connect(Number(service.url.port), service.url.hostname);
  let received = "";
  socket.on("data", (data) => {
    received += data;
  });
  const head = [`GET ${path} HTTP/1.1`, `host: ${service.url.host}`, `x-api-key: ${key}`];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  await sleep(afterMs);
  socket.destroy();
  await once(socket, "close");
  return received;
}

it("clients that disconnect at any time get no value without a record", async () => {
  const before = await countRecords();
  const { key } = await newClient(service);
  let arrived = 0;
  for (let afterMs = 0; afterMs < DISCONNECTS; afterMs += 1) {
    const received = await revealAndDisconnect(key, afterMs);
    if (received.includes(VALUE)) arrived += 1;
    expect(await countRecords()).toBeGreaterThanOrEqual(before + arrived);
  }
  const headers = { "x-api-key": key };
  const response = await fetch(new URL(path, service.url), { headers });
  expect(await response.json()).toEqual({ value: VALUE });
  const recorded = (await countRecords()) - before;
  expect(recorded).toBeGreaterThan(arrived);
  expect(recorded).toBeLessThanOrEqual(DISCONNECTS + 1);
});
