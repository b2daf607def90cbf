import type { ComponentProps, RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { ErrorNote } from "../components/error-note.tsx";
import { currentUrl } from "../router.ts";
import "./log.css";
import { LogChunk } from "./log-chunk.tsx";
import { findLines, type LogLine, linesOfStack, step } from "./log-lines.ts";
import { LogTools } from "./log-tools.tsx";
import { type Log, useLog } from "./use-log.ts";

const CHUNK_LINES = 50;
/** So near to the end, the person reads the newest line. */
const END_PX = 40;
/** The keys that scroll back. */
const BACKWARD = new Set(["ArrowUp", "PageUp", "Home"]);

interface LogViewProps {
  deploymentId: string;
  stackNames: ReadonlyMap<string, string>;
  /** Called when the deployment or a stack has another status. */
  onStatus: () => void;
}

export function LogView({ deploymentId, stackNames, onStatus }: LogViewProps) {
  const log = useLog(deploymentId, onStatus);
  const region = useRef<HTMLDivElement>(null);
  const { lines, ...choice } = useChosenLines(log);
  const [current, setCurrent] = useCurrentLine();
  const following = useFollowing(region, log, current === undefined);
  const { isFollowing, setFollowing, onKeyDown, ...handlers } = following;
  useJump(region, current, current !== undefined && current <= log.lines.all.length);
  const foundSet = useMemo(() => new Set(choice.found), [choice.found]);
  const show = (line: number | undefined) => {
    if (line === undefined) return;
    setFollowing(false);
    setCurrent(line);
  };
  const onClick = (event: MouseEvent) => {
    const link = event.target instanceof Element ? event.target.closest("a.log-number") : null;
    const line = readFragment(link?.getAttribute("href") ?? "");
    if (line !== undefined) event.preventDefault();
    show(line);
  };
  return (
    <div class="stack">
      <LogTools
        {...choice}
        deploymentId={deploymentId}
        stackNames={stackNames}
        position={choice.found.findIndex(({ number }) => number === current) + 1}
        errors={lines.filter(({ isError }) => isError)}
        jump={(among, direction) => show(step(among, current ?? 0, direction)?.number)}
        isFollowing={isFollowing}
        setFollowing={setFollowing}
      />
      <ErrorNote error={log.error} />
      <div
        ref={region}
        class="log"
        role="log"
        aria-live="off"
        aria-label="Log"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll it.
        tabIndex={0}
        {...handlers}
        onKeyDown={onKeyDown}
        onClick={onClick}
      >
        <Chunks
          lines={lines}
          region={region}
          stackNames={stackNames}
          found={foundSet}
          current={current}
        />
        {lines.length === 0 && (
          <p class="soft">{log.hasEnded ? "The log is empty." : "No line has arrived yet."}</p>
        )}
      </div>
      {log.isTruncated && (
        <p class="note attention">The log was longer than is kept. Its end is missing.</p>
      )}
    </div>
  );
}

type ChunksProps = Omit<ComponentProps<typeof LogChunk>, "stackBefore">;

function Chunks({ lines, current, ...props }: ChunksProps) {
  return (
    <>
      {chunksOf(lines).map((chunk, at) => (
        <LogChunk
          {...props}
          key={chunk[0]?.number}
          lines={chunk}
          stackBefore={lines[at * CHUNK_LINES - 1]?.stackId}
          current={chunk.some(({ number }) => number === current) ? current : undefined}
        />
      ))}
    </>
  );
}

/** The lines of the chosen stack, and those of them that the search finds. */
function useChosenLines(log: Log) {
  const [stackId, setStackId] = useState("");
  const [search, setSearch] = useState("");
  const lines = useMemo(() => linesOfStack(log.lines.all, stackId), [log, stackId]);
  // `lines` may be the same array with more lines.
  const found = useMemo(() => findLines(lines, search), [log, lines, search]);
  return { lines, stackId, setStackId, search, setSearch, found };
}

function chunksOf(lines: readonly LogLine[]): LogLine[][] {
  const chunks: LogLine[][] = [];
  for (let at = 0; at < lines.length; at += CHUNK_LINES) {
    chunks.push(lines.slice(at, at + CHUNK_LINES));
  }
  return chunks;
}

function distanceFromEnd({ scrollHeight, scrollTop, clientHeight }: HTMLElement): number {
  return scrollHeight - scrollTop - clientHeight;
}

/** The line of the URL's fragment, such as `#L12`. */
function useCurrentLine(): [number | undefined, (line: number) => void] {
  const [current, setCurrent] = useState(() => readFragment(currentUrl.value.hash));
  useEffect(() => {
    const onChange = () => setCurrent(readFragment(location.hash));
    window.addEventListener("hashchange", onChange);
    return () => window.removeEventListener("hashchange", onChange);
  }, []);
  const change = (line: number) => {
    history.replaceState(null, "", `#L${line}`);
    setCurrent(line);
  };
  return [current, change];
}

function readFragment(hash: string): number | undefined {
  const [, number] = /^#L(\d{1,9})$/.exec(hash) ?? [];
  return number === undefined ? undefined : Number(number);
}

/** Keeps the newest line visible until the person scrolls back, and again once they are at the end. */
function useFollowing(region: RefObject<HTMLDivElement | null>, { version }: Log, begins: boolean) {
  const [isFollowing, setFollowing] = useState(begins);
  useLayoutEffect(() => {
    const element = region.current;
    if (isFollowing && element) element.scrollTop = element.scrollHeight;
  }, [isFollowing, version]);
  const isAtEnd = () => region.current !== null && distanceFromEnd(region.current) < END_PX;
  const stop = () => setFollowing(false);
  return {
    isFollowing,
    setFollowing,
    onWheel: ({ deltaY }: WheelEvent) => deltaY < 0 && stop(),
    onTouchMove: stop,
    onKeyDown: ({ key }: KeyboardEvent) => BACKWARD.has(key) && stop(),
    // The log may have scrolled by itself, and have grown since.
    onScrollEnd: () => isAtEnd() && setFollowing(true),
    onPointerDown: (event: PointerEvent) => event.target === region.current && stop(),
  };
}

/** Scrolls the log, and not the page, to a line, once it is there. */
function useJump(
  region: RefObject<HTMLDivElement | null>,
  line: number | undefined,
  isThere: boolean,
): void {
  useEffect(() => {
    if (!isThere) return;
    const frame = requestAnimationFrame(() => {
      const log = region.current;
      const target = document.getElementById(`L${line}`);
      if (log && target) {
        const offset = target.getBoundingClientRect().top - log.getBoundingClientRect().top;
        log.scrollTop += offset - log.clientHeight / 3;
      }
    });
    return () => cancelAnimationFrame(frame);
  }, [line, isThere]);
}
