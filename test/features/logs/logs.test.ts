import { beforeEach, describe, expect, it } from "vitest";
import type { Parsed } from "../../support/client.ts";
import {
  append,
  declare,
  type LoggedDeployment,
  newLoggedDeployment,
  readEvents,
  start,
} from "../../support/log-harness.ts";
import type { Attempt } from "../../support/runner.ts";

let logged: LoggedDeployment;
let attempt: Attempt;
let path: string;

beforeEach(async () => {
  logged = await newLoggedDeployment();
  attempt = await start(logged);
  path = `/v1/deployments/${logged.deploymentId}/logs`;
});

const send = (offset: number, body: string | Uint8Array, stack: 0 | 1 = 0) =>
  append(logged, attempt, { stackId: logged.stackIds[stack], offset, body });
const text = async (query = "") =>
  (await logged.world.client.get(`${path}${query}`, { accept: "text/plain" })).text;
const page = async (query = "") => (await logged.world.client.get(`${path}${query}`)).body;

describe("the log of a deployment", () => {
  it("has the bytes of both stacks, in order, as lines and as text", async () => {
    const [first, second] = logged.stackIds;
    expect((await send(0, "one\ntw")).body).toEqual({ next_offset: 6 });
    expect((await send(6, "o\n")).body).toEqual({ next_offset: 8 });
    expect((await send(8, "drei\n", 1)).body).toEqual({ next_offset: 13 });
    expect(await text()).toBe("one\ntwo\ndrei\n");
    expect(await text(`?stack_id=${second}`)).toBe("drei\n");
    const { data, ...rest } = await page();
    expect(rest).toEqual({ has_more: false, next_offset: 13, status: "open", truncated: false });
    expect(data.map(({ time: _, ...line }: Parsed) => line)).toEqual([
      { offset: 0, stack_id: first, text: "one\n" },
      { offset: 4, stack_id: first, text: "two\n" },
      { offset: 8, stack_id: second, text: "drei\n" },
    ]);
  });

  it("is sealed when the declared bytes have arrived, also after the end", async () => {
    await send(0, "one\n");
    await attempt.complete("failed", { log: await declare("one\ntwo\n") });
    expect(await page()).toMatchObject({ status: "open", truncated: false });
    expect((await send(4, "two\n")).body).toEqual({ next_offset: 8 });
    await expect
      .poll(() => page())
      .toMatchObject({ status: "sealed", truncated: false, next_offset: 8 });
    expect((await send(8, "more")).status).toBe(409);
  });

  it("is followed to its end, with the status of the deployment", async () => {
    await send(0, "one\ntwo\n");
    const response = await logged.world.client.raw("GET", path, { accept: "text/event-stream" });
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    const events = readEvents(response.body as ReadableStream<Uint8Array>);
    const next = async () => (await events.next()).value;
    expect(JSON.parse((await next())?.data ?? "")).toMatchObject({ status: "in_progress" });
    expect(await next()).toMatchObject({ event: "message", id: "4" });
    expect(await next()).toMatchObject({ event: "message", id: "8" });
    await send(8, "three");
    expect(JSON.parse((await next())?.data ?? "")).toMatchObject({ offset: 8, text: "three" });
    await attempt.complete("canceled");
    const rest: string[] = [];
    for await (const { event, data } of events) rest.push(`${event} ${data}`);
    expect(rest.at(-1)).toBe('end {"status":"canceled","truncated":false}');
  });
});
