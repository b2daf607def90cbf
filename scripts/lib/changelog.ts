import { CommandError } from "../../packages/server/src/command-error.ts";

interface Section {
  title: string;
  body: string;
}

const UNRELEASED = "Unreleased";
const notReleased = (version: string) => `${version} (not released)`;

/**
 * CHANGELOG.md with what is not released yet as this version: its own section, if it was written before, and what is
 * below *Unreleased*.
 */
export function dateRelease(text: string, version: string, date: string): string {
  const { head, sections } = parse(text);
  const titles = [notReleased(version), UNRELEASED];
  const pending = titles.flatMap((title) => sections.filter((each) => each.title === title));
  const bodies = pending.map(({ body }) => body).filter((body) => body !== "");
  if (bodies.length === 0) {
    throw new CommandError(
      `CHANGELOG.md has nothing for ${version}: write what changed below "## ${UNRELEASED}".`,
    );
  }
  const released = { title: `${version} (${date})`, body: bodies.join("\n\n") };
  const earlier = sections.filter((each) => !pending.includes(each));
  const parts = [{ title: UNRELEASED, body: "" }, released, ...earlier].map(render);
  return `${[head, ...parts].join("\n\n")}\n`;
}

/** Whether CHANGELOG.md describes the version as the next one. */
export function isNotReleased(text: string, version: string): boolean {
  return parse(text).sections.some(({ title }) => title === notReleased(version));
}

/** The section of a dated version. */
export function readReleaseNotes(text: string, version: string): string {
  const dated = parse(text).sections.find(({ title }) => {
    const [name, date = ""] = title.split(" ");
    return name === version && /^\(\d{4}-\d{2}-\d{2}\)$/.test(date);
  });
  if (dated) return dated.body;
  throw new CommandError(
    `CHANGELOG.md has no date for ${version}: run npm run release -- ${version}, commit, and tag that commit.`,
  );
}

function parse(text: string): { head: string; sections: Section[] } {
  const [head = "", ...parts] = text.split(/^## /m);
  const sections = parts.map((part) => {
    const [title = "", ...lines] = part.split("\n");
    return { title: title.trim(), body: lines.join("\n").trim() };
  });
  return { head: head.trim(), sections };
}

function render({ title, body }: Section): string {
  return `## ${title}\n\n${body}`.trim();
}
