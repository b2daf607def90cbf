/** The paths of all pages, as the contents list them. */
export async function readPaths(service: URL): Promise<string[]> {
  const text = await (await fetch(new URL("/docs", service))).text();
  const [contents = ""] = /<nav id="contents"[\s\S]*?<\/nav>/.exec(text) ?? [];
  const paths = [...contents.matchAll(/href="([^"#]+)"/g)].map(([, path = ""]) => path);
  return [...new Set(paths)];
}
