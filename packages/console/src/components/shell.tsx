import type { ComponentChildren } from "preact";
import { visiblePages } from "../commands.ts";
import icon from "../icon.svg";
import { currentUrl, ROOT } from "../router.ts";
import { currentWho } from "../session.ts";
import { AccountMenu } from "./account-menu.tsx";
import { Keys } from "./keys.tsx";

/** What surrounds every page of a session. */
export function Shell({ children }: { children: ComponentChildren }) {
  const { pathname } = currentUrl.value;
  const isCurrent = (path: string) =>
    path === ""
      ? !/\/console\/(runners|organization)/.test(pathname)
      : pathname.startsWith(ROOT + path);
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="bar">
        <a class="brand" href={ROOT}>
          <img src={icon} alt="" />
          <span class="brand-name">Longshore</span>
        </a>
        <nav aria-label="Main">
          <ul>
            {visiblePages().map(({ label, path }) => (
              <li key={path}>
                <a href={ROOT + path} aria-current={isCurrent(path) ? "true" : undefined}>
                  {label}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="end">
          <Keys />
          <AccountMenu who={currentWho()} />
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </>
  );
}
