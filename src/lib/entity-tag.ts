import { sha256 } from "./digest.ts";
import { toHex } from "./radix.ts";

/** The versions that a caller expects a resource to have. */
export type ExpectedVersions = "any" | readonly number[];

export interface ConditionalRequest {
  /** Of `If-Match`. Absent: the request has no condition. */
  expectedVersions?: ExpectedVersions;
}

/** Of the digest, in a tag. */
const DIGEST_BYTES = 12;
/** As `entityTag` writes them. No other tag belongs to a resource. */
const OWN_TAG = /^(0|[1-9]\d{0,14})\.[0-9a-f]{24}$/;

/**
 * The strong entity tag of a resource (RFC 9110, 8.8.3): its version, and a digest of what is shown,
 * because some of that changes without a write by a caller.
 */
export function entityTag(version: number, record: unknown): Promise<string> {
  return entityTagOfJson(version, JSON.stringify(record));
}

/** Like `entityTag`, for a response that has the JSON of the resource as its body. */
export async function entityTagOfJson(version: number, json: string): Promise<string> {
  return `"${version}.${await shortDigest(json)}"`;
}

/**
 * The weak entity tag of a response that is no resource. It covers exactly what is shown: much of that,
 * such as the progress of a stack, changes without the version of any resource in it.
 */
export async function bodyTag(body: string | ArrayBuffer): Promise<string> {
  return `W/"${await shortDigest(body)}"`;
}

async function shortDigest(text: string | ArrayBuffer): Promise<string> {
  return toHex(new Uint8Array(await sha256(text), 0, DIGEST_BYTES));
}

/** Of `If-Match` (RFC 9110, 13.1.1). Undefined if it is malformed. */
export function parseIfMatch(header: string): ExpectedVersions | undefined {
  const tags = parseTags(header);
  if (tags === undefined || tags === "any") return tags;
  return tags.flatMap((tag) => {
    const version = OWN_TAG.exec(tag)?.[1];
    return version === undefined ? [] : [Number(version)];
  });
}

/** Whether `If-None-Match` (RFC 9110, 13.1.2) lists a tag. Undefined if it is malformed. */
export function listsTag(header: string, tag: string): boolean | undefined {
  const tags = parseTags(header);
  if (tags === undefined) return undefined;
  return tags === "any" || tags.includes(tag.replace(/^W\//, "").slice(1, -1));
}

const ANY = /^[ \t]*\*[ \t]*$/;
/**
 * A tag, or nothing: lists may have empty elements (RFC 9110, 5.6.1). Workers decode headers as UTF-8,
 * so that the bytes from 0x80 are characters of any code.
 */
const ELEMENT = /[ \t]*(?:(?:W\/)?"([\x21\x23-\x7e\x80-\uffff]*)"[ \t]*)?(,|$)/y;

/** What servers that compress a response append to its tag: Apache, for example, makes `"1.x-gzip"`. */
const OF_COMPRESSION = /-(?:gzip|br|zstd)$/;

/**
 * The opaque parts of the tags, as they were sent to the caller: proxies compress responses, and mark their tags.
 * Weak tags count as strong ones, because Cloudflare weakens those of what it compresses.
 */
function parseTags(header: string): "any" | string[] | undefined {
  if (ANY.test(header)) return "any";
  const tags: string[] = [];
  for (let at = 0; ; ) {
    ELEMENT.lastIndex = at;
    const match = ELEMENT.exec(header);
    if (!match) return undefined;
    if (match[1] !== undefined) tags.push(match[1].replace(OF_COMPRESSION, ""));
    if (match[2] === "") return tags.length > 0 ? tags : undefined;
    at = ELEMENT.lastIndex;
  }
}
