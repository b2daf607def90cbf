import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { ErrorNote } from "../components/error-note.tsx";
import { currentUrl } from "../router.ts";
import "./log.css";
import { LogChunk } from "./log-chunk.tsx";
import { findLines, type LogLine, linesOfStack, step } from "./log-lines.ts";
import { LogTools } from "./log-tools.tsx";
import { useLog } from "./use-log.ts";

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
  const [stackId, setStackId] = useState("");
  const [search, setSearch] = useState("");
  const [current, setCurrent] = useCurrentLine();
  const [isFollowing, setFollowing] = useState(current === undefined);
  const lines = useMemo(() => linesOfStack(log.lines.all, stackId), [log, stackId]);
  // `lines` may be the same array with more lines.
  const found = useMemo(() => findLines(lines, search), [log, lines, search]);
  const foundSet = useMemo(() => new Set(found), [found]);
  const jump = (among: readonly LogLine[], direction: "next" | "previous") => {
    const line = step(among, current ?? 0, direction);
    if (line) {
      setFollowing(false);
      setCurrent(line.number);
    }
  };
  useFollowing(region, isFollowing, log.version);
  useJump(region, current, current !== undefined && current <= log.lines.all.length);
  const isAtEnd = () => region.current !== null && distanceFromEnd(region.current) < END_PX;
  const stopFollowing = () => setFollowing(false);
  // The log may have scrolled by itself, and have grown since.
  const onScrollEnd = () => isAtEnd() && setFollowing(true);
  const onClick = (event: MouseEvent) => {
    const link = event.target instanceof Element ? event.target.closest("a.log-number") : null;
    const line = readFragment(link?.getAttribute("href") ?? "");
    if (line === undefined) return;
    event.preventDefault();
    setFollowing(false);
    setCurrent(line);
  };
  return (
    <div class="stack">
      <LogTools
        deploymentId={deploymentId}
        stackNames={stackNames}
        stackId={stackId}
        setStackId={setStackId}
        search={search}
        setSearch={setSearch}
        found={found}
        position={found.findIndex(({ number }) => number === current) + 1}
        errors={lines.filter(({ isError }) => isError)}
        jump={jump}
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
        onWheel={({ deltaY }) => deltaY < 0 && stopFollowing()}
        onTouchMove={stopFollowing}
        onKeyDown={({ key }) => BACKWARD.has(key) && stopFollowing()}
        onScrollEnd={onScrollEnd}
        onClick={onClick}
        onPointerDown={(event) => event.target === region.current && stopFollowing()}
      >
        {chunksOf(lines).map((chunk, at) => (
          <LogChunk
            key={chunk[0]?.number}
            lines={chunk}
            region={region}
            stackNames={stackNames}
            stackBefore={lines[at * CHUNK_LINES - 1]?.stackId}
            found={foundSet}
            current={chunk.some(({ number }) => number === current) ? current : undefined}
          />
        ))}
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

/** Keeps the newest line visible. */
function useFollowing(
  region: { current: HTMLDivElement | null },
  isFollowing: boolean,
  version: number,
): void {
  useLayoutEffect(() => {
    const element = region.current;
    if (isFollowing && element) element.scrollTop = element.scrollHeight;
  }, [isFollowing, version]);
}

/** Scrolls the log, and not the page, to a line, once it is there. */
function useJump(
  region: { current: HTMLDivElement | null },
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
