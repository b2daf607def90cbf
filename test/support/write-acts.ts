import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { Parsed } from "./client.ts";
import type { Fixture } from "./operation-requests.ts";
import type { Person } from "./world.ts";

/** A request that has succeeded. */
export interface Done {
  fixture: Fixture;
  caller: Person;
  /** The body of the response. */
  reply: Parsed;
  /** What a GET of the same path has shown before. */
  shown: Parsed;
}

/** What an audit entry says of an act. */
export interface Act {
  action: string;
  target: { type: string; id: unknown; name?: unknown };
  changes?: object;
  /** Whose log has it. By default that of the organization. */
  org_id?: string;
}

type Acts = (done: Done) => Act[];

export interface WriteCase {
  /** The audit entries, or why there is none. */
  acts: Acts | string;
  /** In place of the example of the document. */
  body?(fixture: Fixture): object;
  query?: string;
  /** Prepares what the request is about. */
  prepare?(fixture: Fixture): Promise<unknown>;
  /** Every member may do it. */
  needsNoRole?: boolean;
  /** Repeating it without a key has an effect again. */
  repeats?: boolean;
}
const UNSHOWN = ["updated_at", "secret"];

/** Some fields of a resource. By default all that the audit log has. */
type Fields = readonly string[] | undefined;

export function pick(shown: Parsed, fields: Fields = Object.keys(shown)): object {
  const entries = fields
    .filter((name) => !UNSHOWN.includes(name))
    .map((name) => [name, shown[name]]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

export function differences(before: Parsed, after: Parsed, fields: Fields): object {
  const all = fields ?? Object.keys({ ...before, ...after });
  const names = all.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return { before: pick(before, names), after: pick(after, names) };
}

interface Options {
  fields?: Fields;
  /** Null: the audit entry has no name. */
  name?: unknown;
  type?: string;
}

/** The ID of what the response creates, or of what the path names last. */
function idOf({ reply, shown, fixture }: Done, path: string | undefined): unknown {
  return path
    ? fixture.ids[path]
    : (reply?.id ?? reply?.membership_id ?? shown?.id ?? shown?.membership_id);
}

function act(
  action: string,
  done: Done,
  changes: object | undefined,
  { name = (done.reply ?? done.shown)?.name, type = action.split(".")[0] ?? "" }: Options,
  path?: string,
): Act[] {
  const target = {
    type,
    id: idOf(done, path),
    ...(name !== null && name !== undefined && { name }),
  };
  return [{ action, target, ...(changes && { changes }) }];
}

export const created =
  (action: string, options: Options = {}): Acts =>
  (done) =>
    act(action, done, { after: pick(done.reply, options.fields) }, options);

export const changed =
  (action: string, options: Options = {}): Acts =>
  (done) =>
    act(action, done, differences(done.shown, done.reply, options.fields), options);

/** At least these fields: the log has `updated_at` of what was changed, and no empty configuration. */
export const deleted =
  (action: string, options: Options = {}): Acts =>
  (done) => {
    const { configuration: _, ...shown } = done.shown;
    const before = expect.objectContaining(pick(shown, options.fields));
    return act(action, done, { before }, options);
  };

/** @param path The parameter that names the target, if no response does. */
export const acted =
  (
    action: string,
    changes?: (done: Done) => object,
    { path, ...options }: Options & { path?: string } = {},
  ): Acts =>
  (done) =>
    act(action, done, changes?.(done), options, path);

export const all =
  (...each: Acts[]): Acts =>
  (done) =>
    each.flatMap((acts) => acts(done));

export const setRow =
  (sql: string, parameter: string) =>
  ({ ids }: Fixture) =>
    env.DB.prepare(sql).bind(ids[parameter]).run();
