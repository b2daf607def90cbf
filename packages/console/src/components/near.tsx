import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** So near to the visible part, the content is in the document: what the next key or turn of a wheel shows. */
const MARGIN = "600px";

interface NearProps {
  /** The element that scrolls. Absent: the page. */
  root?: RefObject<HTMLDivElement | null>;
  /** Until it was shown, in pixels. */
  estimatedHeight: number;
  /** Whether it is in the document wherever it is. */
  isKept?: boolean;
  children: () => ComponentChildren;
}

/** A part of a long list that is in the document only near its visible part. */
export function Near({ root, estimatedHeight, isKept = false, children }: NearProps) {
  const element = useRef<HTMLDivElement>(null);
  const height = useRef(estimatedHeight);
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    if (!element.current) return;
    const observer = new IntersectionObserver(
      (entries) => {
        const entry = entries.at(-1);
        if (!entry) return;
        if (!entry.isIntersecting) height.current = entry.boundingClientRect.height;
        setNear(entry.isIntersecting);
      },
      { root: root?.current ?? null, rootMargin: MARGIN },
    );
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  const isShown = isNear || isKept;
  return (
    <div ref={element} style={{ height: isShown ? "auto" : `${height.current}px` }}>
      {isShown && children()}
    </div>
  );
}
