import { closeSync, lstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";

/** The first line of a file that stands for one of Git LFS. */
const POINTER = Buffer.from("version https://git-lfs.github.com/spec/v1\n");
/** A list of thousands of files. All of them are pointers if Git LFS has not run. */
const MAXIMUM_LIST_BYTES = 1024 * 1024;

/** Prints the names of the files that `.gitattributes` gives to Git LFS, each with a null byte behind it. */
export const LIST_FILES = ["ls-files", "-z", "--", ":(attr:filter=lfs)"];

/**
 * `git lfs pull` leaves the pointers unless the configuration has the filter. A `.lfsconfig` of the commit must not
 * choose the server, which would get the credentials of the runner's user, nor have files left out in silence.
 */
export const pullSettings = (url: string): string[] => [
  `lfs.url=${lfsUrl(url)}`,
  "lfs.skipdownloaderrors=false",
  "filter.lfs.clean=git-lfs clean -- %f",
  "filter.lfs.process=git-lfs filter-process",
  "filter.lfs.required=true",
];

/** Where Git LFS looks by default. */
function lfsUrl(url: string): string {
  if (new URL(url).protocol === "file:") return url;
  return `${url.replace(/\/$/, "").replace(/\.git$/, "")}.git/info/lfs`;
}

/** What `LIST_FILES` prints. */
export class FileList {
  #bytes: Buffer = Buffer.alloc(0);

  readonly add = (chunk: Buffer): void => {
    if (this.#bytes.length < MAXIMUM_LIST_BYTES) this.#bytes = Buffer.concat([this.#bytes, chunk]);
  };

  /** The name of a file in the folder that is a pointer. */
  findPointer(folder: string): string | undefined {
    const names = this.#bytes.toString().split("\0").slice(0, -1);
    return names.find((name) => isPointer(join(folder, name)));
  }
}

/** A link leads to another file of the commit, which is looked at by itself. */
function isPointer(path: string): boolean {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isFile()) return false;
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(POINTER.length);
    return readSync(file, bytes) === bytes.length && bytes.equals(POINTER);
  } finally {
    closeSync(file);
  }
}
