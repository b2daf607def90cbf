import { STATUS_CODES } from "node:http";
import type { LogFormat } from "./options.ts";
import type { WorkerEvent } from "./runtime/log-lines.ts";

export interface LogWriter {
  event(event: WorkerEvent): void;
  line(level: string, message: string): void;
}

/** Writes lines for people, or one JSON object each for programs. */
export function createLogWriter(format: LogFormat, write: (line: string) => void): LogWriter {
  const time = () => new Date().toISOString();
  return format === "json"
    ? {
        event: ({ event, level, fields }) =>
          write(JSON.stringify({ time: time(), level, event, ...fields })),
        line: (level, message) => write(JSON.stringify({ time: time(), level, message })),
      }
    : {
        event: (event) => write(`${time()} ${describeEvent(event)}`),
        line: (level, message) => write(`${time()} ${level}: ${message}`),
      };
}

/** A request on one line, and everything of what is not one. */
function describeEvent({ event, level, fields }: WorkerEvent): string {
  if (event !== "request") return `${level}: ${event} ${JSON.stringify(fields)}`;
  const { method, route = "no route", status, duration_ms } = fields;
  return `${method} ${route} ${status} ${STATUS_CODES[Number(status)]} (${duration_ms}ms)`;
}
