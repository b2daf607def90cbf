export const NDJSON = "application/x-ndjson";
export const PLAIN_TEXT = "text/plain";
export const EVENT_STREAM = "text/event-stream";
