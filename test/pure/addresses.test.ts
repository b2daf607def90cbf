import { describe, expect, it } from "vitest";
import { describeAddresses } from "../../scripts/lib/release-message.ts";
import {
  NPM_SCOPE,
  PUBLISHED_PACKAGES,
  REPOSITORY,
  REPOSITORY_URL,
  RUNNER_IMAGE,
} from "../../src/lib/addresses.ts";
import { readShownTexts } from "../programs/support/shown-texts.ts";

const SOURCE = "src/lib/addresses.ts";

/** Owners on GitHub and in registries whom examples, tools and dependencies name. */
const OTHER_OWNERS = ["acme", "actions", "flet", "hashicorp", "kubernetes", "octo-org", "panva"];
const OTHER_PACKAGES = ["@redocly/cli"];

/** The lockfile follows the manifests, and has the addresses of all dependencies. */
const texts = readShownTexts().filter(({ file }) => file !== "package-lock.json");

/** What each pattern finds, outside of the file that has the addresses. */
function find(pattern: RegExp, isSearched: (file: string) => boolean = () => true) {
  return texts
    .filter(({ file }) => file !== SOURCE && isSearched(file))
    .flatMap(({ file, text }) => [...text.matchAll(pattern)].map(([found]) => ({ file, found })));
}

const isOfOthers = (address: string) => {
  const [owner = ""] = address.replace(/^(?:github\.com|ghcr\.io|uses:) ?[/:]?/, "").split("/");
  return OTHER_OWNERS.includes(owner.toLowerCase());
};

describe("the addresses that somebody has to own", () => {
  it.each([
    [
      "the repository",
      /(?<![\w.-])github\.com[/:][\w.-]+\/[\w-]+/g,
      `github.com/${REPOSITORY}`,
      10,
    ],
    ["the image", /\bghcr\.io\/[\w-]+\/[\w-]+/g, RUNNER_IMAGE, 2],
    ["the action", /\buses: [\w-]+\/[\w-]+(?=@)/g, `uses: ${REPOSITORY}`, 2],
  ])("are those of one file in docs, workflows and manifests: %s", (_, pattern, own, least) => {
    const found = find(pattern);
    expect(found.filter((each) => each.found === own).length).toBeGreaterThanOrEqual(least);
    expect(found.filter((each) => each.found !== own && !isOfOthers(each.found))).toEqual([]);
  });

  it("are those of one file in docs, workflows and manifests: the npm scope", () => {
    const manifests = texts.filter(({ file }) => /^packages\/.*package\.json$/.test(file));
    const names = manifests.map(({ text }) => String(JSON.parse(text).name));
    expect(names.filter((name) => !name.startsWith(`${NPM_SCOPE}/`))).toEqual([]);
    const folders = names.map((name) => name.split("/")[1]).join("|");
    const found = find(new RegExp(`(?<![\\w.])@[\\w-]+/(?:${folders})(?![\\w-])`, "g"));
    expect(found.length).toBeGreaterThan(50);
    const others = found.filter((each) => !each.found.startsWith(`${NPM_SCOPE}/`));
    expect(others.filter((each) => !OTHER_PACKAGES.includes(each.found))).toEqual([]);
  });

  it("are imported by code, which has none of its own", () => {
    const own = [
      `github\\.com/${REPOSITORY}`,
      RUNNER_IMAGE.replaceAll(".", "\\."),
      `${NPM_SCOPE}/`,
    ];
    const isCode = (file: string) => /^(?:src|scripts|packages)\/.*\.tsx?$/.test(file);
    expect(find(new RegExp(own.join("|"), "g"), isCode)).toEqual([]);
  });

  it("are the repository of every manifest that names one", () => {
    const repositories = texts
      .filter(({ file }) => /(^|\/)package\.json$/.test(file))
      .flatMap(({ text }) => JSON.parse(text).repository?.url ?? []);
    expect(repositories).toHaveLength(1 + PUBLISHED_PACKAGES.length);
    expect(new Set(repositories)).toEqual(new Set([`git+${REPOSITORY_URL}.git`]));
  });

  it("are all listed by npm run release", () => {
    const list = describeAddresses();
    const packages = PUBLISHED_PACKAGES.map((name) => `${NPM_SCOPE}/${name}`);
    for (const each of [REPOSITORY_URL, `uses: ${REPOSITORY}@`, RUNNER_IMAGE, ...packages]) {
      expect(list).toContain(each);
    }
  });
});
