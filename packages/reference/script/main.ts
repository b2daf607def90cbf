import { addCopyButtons } from "./copy-buttons.ts";
import { findTarget } from "./elements.ts";
import { addSearch } from "./search.ts";
import { followScroll } from "./sidebar.ts";
import { addTabs } from "./tabs.ts";
import { addTryIt } from "./try-it.ts";

addSearch();
addTabs();
addCopyButtons();
addTryIt();
scrollToTarget();
followScroll();

/** Again, because the tabs change the height of the page. A reload restores its scroll position. */
function scrollToTarget(): void {
  const [navigation] = performance.getEntriesByType("navigation");
  const isNew = navigation instanceof PerformanceNavigationTiming && navigation.type === "navigate";
  if (isNew) findTarget()?.scrollIntoView();
}
