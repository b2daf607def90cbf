import { findAll, findTarget } from "./elements.ts";

interface Section {
  link: HTMLAnchorElement;
  element: HTMLElement;
}

/** A section is current once its top is above this part of the window. */
const CURRENT_ABOVE = 0.3;
/** Browsers round the scroll position. */
const ROUNDING_PX = 2;
/** Of the current link to the edges of the sidebar. */
const MARGIN_PX = 48;

/** Marks the section at the scroll position, and keeps its link in view. */
export function followScroll(): void {
  const navigation = document.getElementById("contents");
  const sections = navigation ? sectionsOf(navigation) : [];
  if (!navigation) return;
  const scroller = scrollerOf(navigation);
  let current: Section | undefined;
  const update = () => {
    const next = findCurrent(sections);
    if (next === current && current) return;
    for (const { link } of sections) link.removeAttribute("aria-current");
    next?.link.setAttribute("aria-current", "true");
    current = next;
    const shown = next?.link ?? navigation.querySelector("[aria-current]");
    if (shown) scrollIntoView(scroller, shown);
  };
  let isScheduled = false;
  const schedule = () => {
    if (isScheduled) return;
    isScheduled = true;
    requestAnimationFrame(() => {
      isScheduled = false;
      update();
    });
  };
  for (const event of ["scroll", "resize", "hashchange", "load"])
    addEventListener(event, schedule, { passive: true });
  update();
}

function sectionsOf(navigation: HTMLElement): Section[] {
  const links = [...navigation.querySelectorAll<HTMLAnchorElement>("a[href*='#']")];
  return links
    .filter(({ pathname }) => pathname === location.pathname)
    .flatMap((link) => {
      const element = document.getElementById(link.hash.slice(1));
      return element ? [{ link, element }] : [];
    });
}

/** The last sections of a page cannot reach its top: there, the target of the address counts. */
function findCurrent(sections: readonly Section[]): Section | undefined {
  const end = document.documentElement.scrollHeight - innerHeight - ROUNDING_PX;
  const started = sections.filter(({ element }) => topOf(element) <= innerHeight * CURRENT_ABOVE);
  if (scrollY < end || end <= 0) return started.at(-1);
  const visible = sections.filter(({ element }) => topOf(element) < innerHeight);
  const target = findTarget();
  const targeted = visible.find(
    ({ element }) => element === target && topOf(element) >= -ROUNDING_PX,
  );
  return targeted ?? visible.at(-1);
}

function topOf(element: HTMLElement): number {
  return element.getBoundingClientRect().top;
}

function scrollerOf(element: HTMLElement): HTMLElement {
  const parents = findAll("*").filter((each) => each.contains(element));
  return (
    parents.findLast((each) => /auto|scroll/.test(getComputedStyle(each).overflowY)) ?? element
  );
}

/** Unlike the method of elements, leaves the window where it is. */
function scrollIntoView(scroller: HTMLElement, link: Element): void {
  const outer = scroller.getBoundingClientRect();
  const inner = link.getBoundingClientRect();
  const above = inner.top - outer.top - MARGIN_PX;
  const below = inner.bottom - outer.bottom + MARGIN_PX;
  if (above < 0) scroller.scrollTop += above;
  else if (below > 0) scroller.scrollTop += below;
}
