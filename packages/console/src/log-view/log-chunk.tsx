import { Component, type RefObject } from "preact";
import { Near } from "../components/near.tsx";
import { formatExact, formatNumber, showHidden } from "../format.ts";
import { cutLine, parseAnsi } from "./ansi.ts";
import type { LogLine } from "./log-lines.ts";

const SHOWN_CHARACTERS = 10_000;
/** Of an unwrapped line. */
const LINE_PX = 21;

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
    const { lines, region, stackNames, stackBefore, found, current } = this.props;
    return (
      <Near root={region} estimatedHeight={lines.length * LINE_PX} isKept={current !== undefined}>
        {() =>
          lines.map((line, at) => (
            <Line
              key={line.number}
              line={line}
              stack={labelOf(line, lines[at - 1]?.stackId ?? stackBefore, stackNames)}
              isFound={found.has(line)}
              isCurrent={line.number === current}
            />
          ))
        }
      </Near>
    );
  }
}

function hasSameLines(some: readonly LogLine[], others: readonly LogLine[]): boolean {
  return some.length === others.length && some.every((line, at) => line === others[at]);
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

class Line extends Component<LineProps, { isWhole: boolean }> {
  override state = { isWhole: false };

  override shouldComponentUpdate(next: LineProps, state: { isWhole: boolean }): boolean {
    const { line, stack, isFound, isCurrent } = this.props;
    const isSame =
      next.line === line &&
      next.stack === stack &&
      next.isFound === isFound &&
      next.isCurrent === isCurrent;
    return !isSame || state.isWhole !== this.state.isWhole;
  }

  override render() {
    const { line, stack, isFound, isCurrent } = this.props;
    const { number, text, time, style, isError } = line;
    const isCut = !this.state.isWhole && text.length > SHOWN_CHARACTERS;
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
              // The spans of a line keep their places.
              <span key={at} class={span.classes}>
                {span.text}
              </span>
            ))}
            {isCut && (
              <button type="button" class="link" onClick={() => this.setState({ isWhole: true })}>
                Show all {formatNumber(text.length)} characters
              </button>
            )}
          </span>
        </div>
      </>
    );
  }
}
