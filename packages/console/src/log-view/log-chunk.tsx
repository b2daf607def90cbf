import { Component, type RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { formatExact, formatNumber, showHidden } from "../format.ts";
import { cutLine, parseAnsi } from "./ansi.ts";
import type { LogLine } from "./log-lines.ts";

const SHOWN_CHARACTERS = 10_000;
/** Of an unwrapped line, for chunks that were never shown. */
const LINE_PX = 21;
/** Chunks so near to the visible part are shown. */
const MARGIN = "1000px";

interface ChunkProps {
  lines: readonly LogLine[];
  /** The scrolling element. */
  region: RefObject<HTMLDivElement | null>;
  stackNames: ReadonlyMap<string, string>;
  /** The stack of the line before. */
  stackBefore: string | undefined;
  found: ReadonlySet<LogLine>;
  /** The number of the line that is jumped to, if it is in this chunk. */
  current: number | undefined;
}

/** Some lines, which are in the document only near the visible part of the log. */
export class LogChunk extends Component<ChunkProps> {
  override shouldComponentUpdate(next: ChunkProps): boolean {
    const names = Object.keys(next) as (keyof ChunkProps)[];
    return names.some((name) =>
      name === "lines"
        ? !hasSameLines(next.lines, this.props.lines)
        : next[name] !== this.props[name],
    );
  }

  override render() {
    return <NearChunk {...this.props} />;
  }
}

function hasSameLines(some: readonly LogLine[], others: readonly LogLine[]): boolean {
  return some.length === others.length && some.every((line, at) => line === others[at]);
}

function NearChunk(props: ChunkProps) {
  const { lines, region, current } = props;
  const element = useRef<HTMLDivElement>(null);
  const [isNear, setNear] = useState(false);
  const height = useRef<number | undefined>(undefined);
  useEffect(() => {
    const chunk = element.current;
    if (!chunk) return;
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (!entry) return;
        if (!entry.isIntersecting) height.current = entry.boundingClientRect.height;
        setNear(entry.isIntersecting);
      },
      { root: region.current, rootMargin: MARGIN },
    );
    observer.observe(chunk);
    return () => observer.disconnect();
  }, []);
  const isShown = isNear || current !== undefined;
  const reserved = `${height.current ?? lines.length * LINE_PX}px`;
  return (
    <div ref={element} style={{ height: isShown ? "auto" : reserved }}>
      {isShown &&
        lines.map((line, at) => (
          <Line
            key={line.number}
            line={line}
            stack={labelOf(line, lines[at - 1]?.stackId ?? props.stackBefore, props.stackNames)}
            isFound={props.found.has(line)}
            isCurrent={line.number === current}
          />
        ))}
    </div>
  );
}

/** The name of the stack, where another one begins. */
function labelOf(
  { stackId }: LogLine,
  before: string | undefined,
  names: ReadonlyMap<string, string>,
): string | undefined {
  return stackId === before ? undefined : (names.get(stackId) ?? stackId);
}

interface LineProps {
  line: LogLine;
  stack: string | undefined;
  isFound: boolean;
  isCurrent: boolean;
}

function Line({ line, stack, isFound, isCurrent }: LineProps) {
  const { number, text, time, style, isError } = line;
  const [isWhole, setWhole] = useState(false);
  const isCut = !isWhole && text.length > SHOWN_CHARACTERS;
  const { spans } = parseAnsi(isCut ? cutLine(text, SHOWN_CHARACTERS) : text, style);
  const classes = [
    "log-line",
    isError && "log-error",
    isFound && "log-found",
    isCurrent && "log-current",
  ];
  return (
    <>
      {stack !== undefined && <p class="log-stack">{showHidden(stack)}</p>}
      <div id={`L${number}`} class={classes.filter(Boolean).join(" ")}>
        <a href={`#L${number}`} class="log-number" title={formatExact(time)}>
          <span class="visually-hidden">Line </span>
          {number}
        </a>
        <span class="log-text">
          {spans.map((span, at) => (
            // The spans of a line never change.
            <span key={at} class={span.classes}>
              {span.text}
            </span>
          ))}
          {isCut && (
            <button type="button" class="link" onClick={() => setWhole(true)}>
              Show all {formatNumber(text.length)} characters
            </button>
          )}
        </span>
      </div>
    </>
  );
}
