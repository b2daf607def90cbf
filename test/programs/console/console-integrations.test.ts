import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPage } from "../support/console.ts";
import { TestProject } from "../support/project.ts";
import { useService } from "../support/service.ts";

const service = useService({ ALLOW_INSECURE_WEBHOOKS: "true" });
let receiver: Server;
const received: { id: string; type: string }[] = [];

beforeAll(async () => {
  receiver = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => {
      body += part;
    });
    request.on("end", () => {
      received.push({ id: String(request.headers["webhook-id"]), type: JSON.parse(body).type });
      const isFirst = received.length === 1;
      response.writeHead(isFirst ? 410 : 200).end(isFirst ? "<b>gone</b>" : "<b>taken</b>");
    });
  }).listen(0, "127.0.0.1");
});

afterAll(async () => {
  receiver.close();
});

describe("a webhook in the console", () => {
  it("is for all environments, or for those of one picker, with all of their stacks or some", async () => {
    const project = await TestProject.make(service);
    const stacks = `/v1/environments/${project.environmentId}/stacks`;
    const picked = await service.owner.call("POST", stacks, { name: "picked" });
    const root = `/v1/projects/${project.projectId}`;
    await service.owner.call("POST", `${root}/environments`, { name: "staging" });
    const integrations = `${root}/notification-integrations`;
    const filters = async () => {
      const { data } = await service.owner.call("GET", integrations);
      return [data[0].environment_ids, data[0].stack_ids];
    };
    const url = new URL(`/console/projects/${project.projectId}/integrations`, service.pages);
    const { page } = await openPage(url, { apiKey: project.key });
    await page.getByRole("button", { name: "Create a webhook" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("URL").fill("https://hooks.example.com/picked");
    const which = dialog.getByRole("combobox", { name: "Environments" });
    await which.selectOption("Only these environments");
    await dialog.getByRole("checkbox", { name: "production" }).check();
    expect(await dialog.getByRole("checkbox", { name: "staging" }).isChecked()).toBe(false);
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByRole("button", { name: "Done" }).click();
    expect(await filters()).toEqual([[project.environmentId], undefined]);
    await page.getByRole("list", { name: "Integrations" }).getByRole("link").click();
    await page.getByRole("button", { name: "Edit" }).click();
    expect(await which.inputValue()).toBe("some");
    await dialog.getByRole("checkbox", { name: "picked" }).check();
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await filters()).toEqual([[project.environmentId], [picked.id]]);
    await page.getByRole("button", { name: "Edit" }).click();
    expect(await dialog.getByRole("checkbox", { name: "picked" }).isChecked()).toBe(true);
    await which.selectOption("All environments");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await filters()).toEqual([undefined, undefined]);
  });

  it("is created, pinged, enabled, and gets a delivery again", async () => {
    const project = await TestProject.make(service);
    const { port } = receiver.address() as AddressInfo;
    const url = new URL(`/console/projects/${project.projectId}/integrations`, service.pages);
    const { page } = await openPage(url, { apiKey: project.key });
    await page.getByRole("button", { name: "Create a webhook" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("URL").fill(`http://127.0.0.1:${port}/hook`);
    await dialog.getByLabel("Promotion").check();
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByText("whsec_").waitFor();
    await dialog.getByRole("button", { name: "Done" }).click();
    expect(await page.content()).not.toContain("whsec_");
    await page.getByRole("link", { name: "http://127.0.0.1" }).click();
    await page.getByText("Promotion", { exact: false }).first().waitFor();
    await page.getByRole("button", { name: "Ping" }).click();
    // A response with 410 disables the integration.
    await page.locator("h1 ~ .status", { hasText: "Disabled" }).waitFor();
    expect(await page.getByRole("button", { name: "Ping" }).count()).toBe(0);
    await page.getByRole("button", { name: "Enable" }).click();
    await page.locator("h1 ~ .status", { hasText: /Active|Failing/ }).waitFor();
    await page.getByRole("link", { name: "ping" }).click();
    await page.getByText("Status 410").waitFor();
    // The response is shown as text.
    await page.getByText("<b>gone</b>").waitFor();
    const first = page.url();
    await page.getByRole("button", { name: "Redeliver" }).click();
    await page.waitForURL((now) => now.href !== first);
    await page.getByText("Status 200").waitFor();
    expect(received.map(({ type }) => type)).toEqual(["ping", "ping"]);
    expect(received[0]?.id).toBe(received[1]?.id);
  });
});
