import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Log } from "./use-log.ts";

/** So near to the end, the person reads the newest line. */
const END_PX = 40;
/** The keys that scroll back. */
const BACKWARD = new Set(["ArrowUp", "PageUp", "Home"]);

interface ScrollOptions {
  /** The scrolling element. */
  region: RefObject<HTMLDivElement | null>;
  log: Log;
  /** The stack whose lines are shown. Empty: all. */
  stackId: string;
  /** The line that is jumped to. */
  line: number | undefined;
  /** Whether that line is not known yet. */
  isUnknown: boolean;
  /** Whether only the log scrolls to it, and not the page. */
  isWithin: boolean;
}

/**
 * Keeps the newest line or the chosen one visible until the person scrolls: also while lines near it get their real
 * heights, which are unknown before they are in the document.
 */
export function useScroll({ region, log, stackId, line, isUnknown, isWithin }: ScrollOptions) {
  const [isFollowing, follow] = useState(line === undefined && !isUnknown);
  const isKept = useRef(true);
  const content = useRef<HTMLDivElement>(null);
  const isThere = line !== undefined && line <= log.lines.all.length;
  const scroll = useRef((): void => undefined);
  scroll.current = () => {
    const element = region.current;
    if (!element) return;
    if (isFollowing) element.scrollTop = element.scrollHeight;
    else if (isKept.current) scrollToLine(element, line);
  };
  useLayoutEffect(() => scroll.current(), [isFollowing, log.version]);
  useLayoutEffect(() => {
    if (isFollowing || !region.current) return;
    isKept.current = true;
    region.current.scrollTop = 0;
    scroll.current();
  }, [stackId]);
  useEffect(() => {
    const observer = new ResizeObserver(() => scroll.current());
    for (const { current } of [region, content]) if (current) observer.observe(current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (!isThere) return;
    isKept.current = true;
    follow(false);
    const frame = requestAnimationFrame(() => {
      scroll.current();
      if (!isWithin) document.getElementById(`L${line}`)?.scrollIntoView({ block: "center" });
    });
    return () => cancelAnimationFrame(frame);
  }, [line, isThere]);
  const setFollowing = (follows: boolean) => {
    isKept.current = true;
    follow(follows);
  };
  const release = () => {
    isKept.current = false;
  };
  const stop = () => {
    release();
    follow(false);
  };
  return {
    content,
    isFollowing,
    setFollowing,
    onWheel: ({ deltaY }: WheelEvent) => (deltaY < 0 ? stop() : release()),
    onTouchMove: stop,
    onKeyDown: ({ key }: KeyboardEvent) => (BACKWARD.has(key) ? stop() : release()),
    // The log may have scrolled by itself, and have grown since.
    onScrollEnd: () => region.current && isAtEnd(region.current) && follow(true),
    onPointerDown: (event: PointerEvent) => event.target === region.current && stop(),
  };
}

function isAtEnd({ scrollHeight, scrollTop, clientHeight }: HTMLElement): boolean {
  return scrollHeight - scrollTop - clientHeight < END_PX;
}

function scrollToLine(log: HTMLElement, line: number | undefined): void {
  const target = document.getElementById(`L${line}`);
  if (!target) return;
  const offset = target.getBoundingClientRect().top - log.getBoundingClientRect().top;
  log.scrollTop += offset - log.clientHeight / 3;
}
