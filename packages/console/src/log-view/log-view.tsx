import type { ComponentProps } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ErrorNote } from "../components/error-note.tsx";
import { currentUrl, navigate, queryOf, setQuery } from "../router.ts";
import "./log.css";
import { LogChunk } from "./log-chunk.tsx";
import { findFailure, findLines, type LogLine, linesOfStack, step } from "./log-lines.ts";
import { LogTools } from "./log-tools.tsx";
import { type Log, useLog } from "./use-log.ts";
import { useScroll } from "./use-scroll.ts";

const CHUNK_LINES = 50;

/** Instead of a line: the first error of what failed. */
export const TO_ERROR = "#error";

interface LogViewProps {
  deploymentId: string;
  stackNames: ReadonlyMap<string, string>;
  /** Empty: the lines of all. */
  stackId: string;
  /** Undefined: the deployment has not failed. */
  failedStackIds: readonly string[] | undefined;
  /** Called when the deployment or a stack has another status. */
  onStatus: () => void;
}

export function LogView(props: LogViewProps) {
  const { deploymentId, stackNames, stackId, failedStackIds, onStatus } = props;
  const log = useLog(deploymentId, onStatus);
  const region = useRef<HTMLDivElement>(null);
  const { lines, ...choice } = useChosenLines(log, stackId);
  const [current, jump] = useCurrentLine(log, failedStackIds);
  const scroll = useScroll({ region, log, stackId, ...current });
  const { isFollowing, setFollowing, content, onKeyDown, ...handlers } = scroll;
  const foundSet = useMemo(() => new Set(choice.found), [choice.found]);
  const isWrapped = queryOf("wrap") !== "off";
  const show = (line: number | undefined) => {
    if (line === undefined) return;
    setFollowing(false);
    jump(line);
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
        position={choice.found.findIndex(({ number }) => number === current.line) + 1}
        errors={lines.filter(({ isError }) => isError)}
        jump={(among, direction) => show(step(among, current.line ?? 0, direction)?.number)}
        isFollowing={isFollowing}
        setFollowing={setFollowing}
        isWrapped={isWrapped}
        setWrapped={(wraps) => setQuery({ wrap: wraps ? "" : "off" })}
      />
      <ErrorNote error={log.error} />
      <div
        ref={region}
        class={isWrapped ? "log" : "log unwrapped"}
        role="log"
        aria-live="off"
        aria-label="Log"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll it.
        tabIndex={0}
        {...handlers}
        onKeyDown={onKeyDown}
        onClick={onClick}
      >
        <div ref={content}>
          <Chunks
            lines={lines}
            region={region}
            stackNames={stackNames}
            found={foundSet}
            current={current.line}
          />
        </div>
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
function useChosenLines(log: Log, stackId: string) {
  const [search, setSearch] = useState("");
  const lines = useMemo(() => linesOfStack(log.lines.all, stackId), [log, stackId]);
  // `lines` may be the same array with more lines.
  const found = useMemo(() => findLines(lines, search), [log, lines, search]);
  return { lines, search, setSearch, found };
}

function chunksOf(lines: readonly LogLine[]): LogLine[][] {
  const chunks: LogLine[][] = [];
  for (let at = 0; at < lines.length; at += CHUNK_LINES) {
    chunks.push(lines.slice(at, at + CHUNK_LINES));
  }
  return chunks;
}

/** The line of the URL's fragment, such as `#L12`. Without one, the log of a failure opens at its first error. */
function useCurrentLine(log: Log, failedStackIds: readonly string[] | undefined) {
  const { hash } = currentUrl.value;
  const hasFailed = failedStackIds !== undefined;
  // Who watches it fail reads the end. What the session has read earlier may say that it still runs.
  const opens = useRef(hash === "");
  if (!hasFailed && log.lines.all.length > 0) opens.current = false;
  /** Where the page itself has gone: it stays where it is, and only the log scrolls. */
  const within = useRef<number | undefined>(undefined);
  const jump = (line: number) => {
    within.current = line;
    navigate(`#L${line}`, { replace: true });
  };
  const isAsked = hash === TO_ERROR;
  const opensAtError = hasFailed && opens.current;
  const line = readFragment(hash);
  useEffect(() => {
    if (!isAsked && !opensAtError) return;
    const failure = findFailure(log.lines.all, failedStackIds ?? [], log.hasEnded);
    if (!failure) return;
    opens.current = false;
    jump(failure.number);
    if (isAsked) within.current = undefined;
  }, [log, isAsked, opensAtError]);
  const isUnknown = isAsked || opensAtError;
  return [{ line, isUnknown, isWithin: line === within.current }, jump] as const;
}

function readFragment(hash: string): number | undefined {
  const [, number] = /^#L(\d{1,9})$/.exec(hash) ?? [];
  return number === undefined ? undefined : Number(number);
}
