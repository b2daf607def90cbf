import { findTarget } from "./elements.ts";

/** `/docs#createProject` was an operation when there was one page. Its entry in the index has the link. */
export function followOldLinks(): void {
  const follow = () => {
    const entry = findTarget()?.closest("#operations :is(li, h3)[id]");
    const link = entry?.querySelector("a");
    if (link && link.pathname !== location.pathname) location.replace(link.href);
  };
  addEventListener("hashchange", follow);
  follow();
}
