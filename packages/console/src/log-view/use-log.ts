import { useEffect, useState } from "preact/hooks";
import { client } from "../api.ts";
import { LogLines } from "./log-lines.ts";

export interface Log {
  lines: LogLines;
  /** Grows with each change. */
  version: number;
  hasEnded: boolean;
  isTruncated: boolean;
  error: unknown;
}

/**
 * Follows the log of a deployment until its end. `onStatus` is called when the deployment or a stack has
 * another status. Lines that arrive together are shown together.
 */
export function useLog(deploymentId: string, onStatus: () => void): Log {
  const [log, setLog] = useState<Log>(newLog);
  useEffect(() => {
    const controller = new AbortController();
    const lines = new LogLines();
    let frame = 0;
    const change = (changed: Partial<Log> = {}) => {
      setLog((old) => ({ ...old, ...changed, lines, version: old.version + 1 }));
    };
    const changeSoon = () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        change();
      });
    };
    const follow = async () => {
      const path = { deployment_id: deploymentId };
      const events = client.stream("/v1/deployments/{deployment_id}/logs", {
        path,
        signal: controller.signal,
      });
      for await (const { event, data } of events) {
        if (event === "line") {
          lines.add(data);
          changeSoon();
        } else {
          onStatus();
        }
        if (event === "end") change({ hasEnded: true, isTruncated: data.truncated });
      }
    };
    change({ hasEnded: false, isTruncated: false, error: undefined });
    follow().catch((error) => controller.signal.aborted || change({ error }));
    return () => {
      controller.abort();
      cancelAnimationFrame(frame);
    };
  }, [deploymentId]);
  return log;
}

function newLog(): Log {
  return {
    lines: new LogLines(),
    version: 0,
    hasEnded: false,
    isTruncated: false,
    error: undefined,
  };
}
