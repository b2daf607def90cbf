import type { Page } from "playwright-core";

const TABS = 2;

/** Visits all paths, in two tabs at once: each uses one core. */
export async function visitInTabs(
  paths: readonly string[],
  openTab: () => Promise<{ page: Page }>,
  visit: (page: Page, path: string) => Promise<void>,
): Promise<void> {
  const remaining = [...paths];
  await Promise.all(
    Array.from({ length: TABS }, async () => {
      const { page } = await openTab();
      for (let path = remaining.shift(); path !== undefined; path = remaining.shift()) {
        await visit(page, path);
      }
    }),
  );
}
