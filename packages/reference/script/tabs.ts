import { createElement, findAll } from "./elements.ts";

/** https://www.w3.org/WAI/ARIA/apg/patterns/tabs/ */
interface Tab {
  value: string;
  button: HTMLButtonElement;
  panel: HTMLElement;
}

/** The tabs of one `data-tabs`. */
type TabGroup = readonly Tab[];

/** All groups of one name show the same tab, on all pages. */
export function addTabs(): void {
  const byName = Map.groupBy(findAll("[data-tabs]"), ({ dataset }) => dataset["tabs"] ?? "");
  for (const [name, containers] of byName) {
    const groups = containers.map((container, at) =>
      createGroup(container, `tabs-${name}-${at}`, name),
    );
    const choose = (value: string) => {
      for (const group of groups) select(group, value);
    };
    for (const group of groups)
      listen(group, (value) => {
        keepInPlace(group, () => choose(value));
        remember(name, value);
      });
    const [first] = groups[0] ?? [];
    choose(recall(name) ?? first?.value ?? "");
  }
}

function createGroup(container: HTMLElement, id: string, name: string): TabGroup {
  const panels = [...container.querySelectorAll<HTMLElement>(":scope > [data-tab]")];
  const tabs = panels.map((panel): Tab => {
    const value = panel.dataset["tab"] ?? "";
    const label = panel.getAttribute("aria-label") ?? value;
    panel.id ||= `${id}-${value}`;
    const attributes = {
      type: "button",
      role: "tab",
      "aria-controls": panel.id,
      id: `${id}-tab-${value}`,
    };
    const button = createElement("button", attributes, label);
    panel.setAttribute("role", "tabpanel");
    panel.removeAttribute("aria-label");
    panel.setAttribute("aria-labelledby", button.id);
    if (!panel.querySelector("[tabindex], a, button")) panel.tabIndex = 0;
    return { value, button, panel };
  });
  const buttons = tabs.map(({ button }) => button);
  container.prepend(
    createElement("div", { role: "tablist", class: "tablist", "aria-label": name }, ...buttons),
  );
  return tabs;
}

function listen(group: TabGroup, choose: (value: string) => void): void {
  for (const [at, { value, button }] of group.entries()) {
    button.addEventListener("click", () => choose(value));
    button.addEventListener("keydown", (event) => {
      const next = group.at(nextIndex(event.key, at, group.length));
      if (!next || next.button === button) return;
      event.preventDefault();
      choose(next.value);
      next.button.focus();
    });
  }
}

function nextIndex(key: string, at: number, count: number): number {
  if (key === "ArrowRight") return (at + 1) % count;
  if (key === "ArrowLeft") return at - 1;
  if (key === "Home") return 0;
  return key === "End" ? count - 1 : at;
}

/** Does nothing if the group has no such tab. */
function select(group: TabGroup, value: string): void {
  if (!group.some((tab) => tab.value === value)) return;
  for (const { value: own, button, panel } of group) {
    const isSelected = own === value;
    button.setAttribute("aria-selected", String(isSelected));
    button.tabIndex = isSelected ? 0 : -1;
    panel.hidden = !isSelected;
  }
}

/** The groups above change their height too. */
function keepInPlace([tab]: TabGroup, change: () => void): void {
  const before = tab?.button.getBoundingClientRect().top ?? 0;
  change();
  const after = tab?.button.getBoundingClientRect().top ?? 0;
  scrollBy({ top: after - before, behavior: "instant" });
}

/** Browsers may refuse storage: the choice then lasts for the page. */
function remember(name: string, value: string): void {
  try {
    localStorage.setItem(storageKey(name), value);
  } catch {}
}

function recall(name: string): string | undefined {
  try {
    return localStorage.getItem(storageKey(name)) ?? undefined;
  } catch {
    return undefined;
  }
}

function storageKey(name: string): string {
  return `longshore.docs.${name}`;
}
