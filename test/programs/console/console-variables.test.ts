import { describe, expect, it } from "vitest";
import { findViolations } from "../support/axe.ts";
import { FAILED_REQUEST, openPage } from "../support/console.ts";
import { TestProject } from "../support/project.ts";
import { ApiClient, type Parsed, useService } from "../support/service.ts";

const service = useService();

async function openVariables(options: object = {}) {
  const project = await TestProject.make(service);
  const client = new ApiClient(service.url, project.key);
  const url = new URL(`/console/environments/${project.environmentId}/variables`, service.pages);
  const { page } = await openPage(url, { apiKey: project.key, ...options });
  const readValues = async () => {
    const path = `/v1/environments/${project.environmentId}/variables/values`;
    const { data } = await client.call("GET", path);
    return Object.fromEntries(
      data.map(({ name, value }: { name: string; value: string }) => [name, value]),
    );
  };
  return { page, project, readValues };
}

describe("the variables in the console", () => {
  it("are masked until one is revealed, whose value leaves the page with its dialog", async () => {
    const { page } = await openVariables();
    await page.getByText("GREETING").waitFor();
    expect(await page.content()).not.toContain("good 'morning'");
    await page.getByRole("button", { name: "Reveal GREETING" }).click();
    await page.getByText("The audit log records who reads a value").waitFor();
    expect(await page.content()).not.toContain("good 'morning'");
    await page.getByRole("button", { name: "Reveal the value" }).click();
    await page.getByText("good 'morning'").waitFor();
    await page.keyboard.press("Escape");
    expect(await page.content()).not.toContain("good 'morning'");
  });

  it("have the warning of a name that runners refuse", async () => {
    const { page, project } = await openVariables();
    await project.setVariables({ KUBECONFIG: "x" });
    await page.reload();
    const row = page.getByRole("listitem").filter({ hasText: "KUBECONFIG" });
    await row.getByText("--allow-variables kubernetes").waitFor();
    expect(await page.getByText("refuses this name").count()).toBe(1);
  });

  it("are written from a pasted file, after a preview of what it changes", async () => {
    const { page, project, readValues } = await openVariables();
    await project.setVariables({ KEPT: "same", OLD: "gone" });
    await page.getByRole("button", { name: "Paste a .env file" }).click();
    const dialog = page.getByRole("dialog");
    await dialog
      .getByLabel("Contents of the file")
      .fill("GREETING=hello\nKEPT=same\nexport NEW='a b' # of the team\n");
    await dialog.getByRole("button", { name: "Preview" }).click();
    await dialog.getByText("1 added, 1 changed, 0 removed, 1 unchanged").waitFor();
    expect(await readValues()).toMatchObject({ GREETING: "good 'morning'" });
    await dialog.getByLabel("Remove 1 variable that").check();
    await dialog.getByText("1 added, 1 changed, 1 removed, 1 unchanged").waitFor();
    const lines = await dialog.getByRole("listitem").allTextContents();
    expect(lines).toEqual(["+Added: NEW", "~Changed: GREETING", "-Removed: OLD"]);
    await dialog.getByRole("button", { name: "Write the variables" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await readValues()).toEqual({ GREETING: "hello", KEPT: "same", NEW: "a b" });
    await page.getByText("NEW", { exact: true }).waitFor();
  });

  it("stay as they are if the pasted text is not clear", async () => {
    const { page, readValues } = await openVariables();
    await page.getByRole("button", { name: "Paste a .env file" }).click();
    await page.getByLabel("Contents of the file").fill("A=1\nthis is no variable\n");
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByText("The text, line 2").waitFor();
    expect(await readValues()).toEqual({ GREETING: "good 'morning'" });
  });

  it("are sensitive unless somebody says otherwise, with the storage method as a detail", async () => {
    const { page, project } = await openVariables();
    const client = new ApiClient(service.url, project.key);
    const methods = async () => {
      const path = `/v1/environments/${project.environmentId}/variables`;
      const { data } = await client.call("GET", path);
      return Object.fromEntries(data.map((each: Parsed) => [each["name"], each["storage_method"]]));
    };
    const dialog = page.getByRole("dialog");
    const sensitive = dialog.getByLabel("Sensitive", { exact: true });
    const method = dialog.getByLabel("How a runner of your own stores it");
    const save = async (verb: string) => {
      await dialog.getByRole("button", { name: verb }).click();
      await dialog.waitFor({ state: "detached" });
    };
    const add = async (name: string) => {
      await page.getByRole("button", { name: "Add a variable" }).click();
      await dialog.getByLabel("Name", { exact: true }).fill(name);
      await dialog.getByLabel("Value", { exact: true }).fill("x");
      expect(await sensitive.isChecked()).toBe(true);
      expect(await method.isVisible()).toBe(false);
    };
    await add("TOKEN");
    await save("Add");
    await add("LEVEL");
    await sensitive.uncheck();
    await dialog.getByText("Storage method: string").waitFor();
    await save("Add");
    await add("PASSWORD");
    await sensitive.uncheck();
    await dialog.getByText("Storage method: string").click();
    await method.selectOption("secure_string");
    expect(await sensitive.isChecked()).toBe(true);
    expect(await findViolations(page)).toEqual([]);
    await save("Add");
    const expected = { TOKEN: "secret", LEVEL: "string", PASSWORD: "secure_string" };
    expect(await methods()).toMatchObject(expected);
    await page.getByText("Not sensitive (string)").waitFor();
    // An edit keeps the method, unless it is changed.
    await page.getByRole("button", { name: "Edit PASSWORD" }).click();
    await dialog.getByText("Storage method: secure_string").waitFor();
    await dialog.getByLabel("New value").fill("y");
    await save("Save");
    expect(await methods()).toMatchObject(expected);
  });

  it("are created, with the issue of a refused name at its field", async () => {
    const { page, readValues } = await openVariables({ expectedProblem: FAILED_REQUEST });
    await page.getByRole("button", { name: "Add a variable" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name", { exact: true }).fill("1-wrong name");
    await dialog.getByLabel("Value", { exact: true }).fill("  kept spaces ");
    await dialog.getByRole("button", { name: "Add" }).click();
    await dialog.getByRole("alert").waitFor();
    const name = dialog.getByLabel("Name", { exact: true });
    expect(await name.getAttribute("aria-invalid")).toBe("true");
    await name.fill("PORT");
    await dialog.getByRole("button", { name: "Add" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await readValues()).toMatchObject({ PORT: "  kept spaces " });
  });
});
