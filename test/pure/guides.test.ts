import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readGuide } from "../../packages/reference/src/guide-markdown.ts";
import { readGuides } from "../../scripts/lib/page-assets.ts";
import { ROOT } from "../../scripts/lib/wrangler.ts";

const render = (markdown: string) => readGuide({ slug: "logs", title: "Logs" }, markdown);

describe("the guides", () => {
  it("link only to files that the repository has", () => {
    const prefix = "https://github.com/longshore/longshore/blob/main/";
    const links = readGuides().flatMap(({ html }) =>
      [...html.matchAll(/href="([^"#]+)/g)].map(([, link = ""]) => link),
    );
    const files = links.filter((link) => link.startsWith(prefix));
    expect(files.length).toBeGreaterThan(3);
    const missing = files.filter((link) => !existsSync(join(ROOT, link.slice(prefix.length))));
    expect(missing).toEqual([]);
    expect(links.filter((link) => !/^(https?:\/\/|\/docs\/guides\/)/.test(link))).toEqual([]);
  });
});

describe("the rendering of a guide", () => {
  it("has anchors as GitHub makes them, also for titles with code and for equal titles", () => {
    const { html, sections } = render(
      "# Logs\n\n## Read `GET /logs`, again & again\n\n### Ünï_code!\n\n## Same\n\n## Same\n",
    );
    expect([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)).toEqual([
      "logs",
      "read-get-logs-again--again",
      "ünï_code",
      "same",
      "same-1",
    ]);
    expect(sections.map(({ title }) => title)).toEqual([
      "Read GET /logs, again & again",
      "Same",
      "Same",
    ]);
  });

  it("links to guides as pages, and to other files as files of the repository", () => {
    const { html } = render(
      "# Logs\n\n[a](runners.md#pools) [b](slack.md) [c](#logs) [d](../packages/client/README.md#x) [e](https://a.example)",
    );
    expect([...html.matchAll(/href="([^"]+)"/g)].map(([, link]) => link)).toEqual([
      "/docs/guides/runners#pools",
      "https://github.com/longshore/longshore/blob/main/docs/slack.md",
      "#logs",
      "https://github.com/longshore/longshore/blob/main/packages/client/README.md#x",
      "https://a.example",
    ]);
  });

  it("escapes code and text", () => {
    const { html } = render("# Logs\n\nIf a < b & `<b>`:\n\n```sh\necho \"<i>\" & 'x'\n```\n");
    expect(html).toContain("<p>If a &lt; b &amp; <code>&lt;b&gt;</code>:</p>");
    expect(html).toContain("echo &quot;&lt;i&gt;&quot; &amp; 'x'");
  });

  it("has no empty headers of tables, and no row of them only", () => {
    const table = render("# Logs\n\n| Name | |\n|---|---|\n| a | b |\n").html;
    expect(table).toContain('<tr><th scope="col">Name</th><td></td></tr>');
    expect(table).toContain("<tr><td>a</td><td>b</td></tr>");
    expect(render("# Logs\n\n| | |\n|---|---|\n| a | b |\n").html).not.toContain("<thead>");
  });

  it.each([
    ["a block of HTML", "<script>alert(1)</script>"],
    ["HTML in a line", "A <b>bold</b> word."],
    ["an image", "![a](a.png)"],
    ["a script as a link", "[a](javascript:alert(1))"],
    ["a script as a link, disguised", "[a](JaVaScRiPt:alert(1))"],
    ["a data URL as a link", "[a](data:text/html,x)"],
  ])("refuses %s", (_, markdown) => {
    expect(() => render(`# Logs\n\n${markdown}\n`)).toThrow("The guide logs has");
  });

  it("refuses a guide without a title", () => {
    expect(() => render("Text.")).toThrow("does not begin with a title");
  });
});
