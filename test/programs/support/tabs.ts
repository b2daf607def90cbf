import type { Page } from "playwright-core";

/** A page, and the problems that it has reported. */
interface Tab {
  page: Page;
  problems: string[];
}

const TABS = 2;

/** Visits all paths, in two tabs at once: each uses one core. Returns the problems that the tabs have reported. */
export async function visitInTabs(
  paths: readonly string[],
  openTab: () => Promise<Tab>,
  visit: (page: Page, path: string) => Promise<void>,
): Promise<string[]> {
  const remaining = [...paths];
  const tabs = await Promise.all(
    Array.from({ length: TABS }, async () => {
      const { page, problems } = await openTab();
      for (let path = remaining.shift(); path !== undefined; path = remaining.shift()) {
        await visit(page, path);
      }
      return problems;
    }),
  );
  return tabs.flat();
}
