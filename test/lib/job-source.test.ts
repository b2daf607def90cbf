import { describe, expect, it } from "vitest";
import { CODE_HOST_ISSUERS, readJobSource } from "../../src/lib/job-source.ts";

const [GITHUB, GITLAB] = CODE_HOST_ISSUERS;
const OWN_HOST = "https://code.example.com";
const SHA = "a".repeat(40);

const ofGitHub = (ref: unknown, ref_type: unknown) => ({ repository_id: "74", ref, ref_type });
const ofGitLab = (ref_path: unknown, ref_type: unknown) => ({
  project_id: "74",
  ref: "main",
  ref_path,
  ref_type,
});

const REFS = [
  "refs/heads/main",
  "refs/heads/a/b",
  "refs/tags/main",
  "refs/tags/v1",
  "refs/pull/1/merge",
  "refs/merge-requests/1/head",
];
const NO_REFS = [
  undefined,
  null,
  1,
  "",
  "main",
  "heads/main",
  "refs/",
  "refs/heads/",
  "refs//main",
];
const NO_NUMBERS = [undefined, null, "", "acme/shop", "7 4", "-1", 7.4, ["74"], "1".repeat(21)];

const typeOf = (ref: string) => (ref.startsWith("refs/tags/") ? "tag" : "branch");
const otherType = (ref: string) => (typeOf(ref) === "tag" ? "branch" : "tag");

describe("the source of a job", () => {
  it("is the same for the claims of each host, by their names", () => {
    for (const ref of REFS) {
      const source = { repository_id: "74", ref, is_protected: false };
      for (const issuer of [GITHUB, OWN_HOST]) {
        expect(readJobSource(issuer, ofGitHub(ref, typeOf(ref)))).toEqual(source);
      }
      for (const issuer of [GITLAB, OWN_HOST]) {
        expect(readJobSource(issuer, ofGitLab(ref, typeOf(ref)))).toEqual(source);
      }
    }
  });

  it("is none with the claims of another host, or of both", () => {
    const [github, gitlab] = [
      ofGitHub("refs/heads/main", "branch"),
      ofGitLab("refs/heads/main", "branch"),
    ];
    expect(readJobSource(GITLAB, github)).toBeUndefined();
    expect(readJobSource(GITHUB, gitlab)).toBeUndefined();
    expect(readJobSource(OWN_HOST, { ...gitlab, ...github })).toBeUndefined();
    expect(readJobSource(OWN_HOST, { ref: "refs/heads/main", ref_type: "branch" })).toBeUndefined();
  });

  it("is none without a full ref of its type, and a number", () => {
    for (const issuer of [GITHUB, GITLAB, OWN_HOST]) {
      for (const ref of NO_REFS) {
        expect([ref, readJobSource(issuer, ofGitHub(ref, "branch"))]).toEqual([ref, undefined]);
        expect([ref, readJobSource(issuer, ofGitLab(ref, "branch"))]).toEqual([ref, undefined]);
      }
      for (const ref of REFS.filter((each) => /heads|tags/.test(each))) {
        for (const type of [otherType(ref), "", null, 1]) {
          expect(readJobSource(issuer, ofGitHub(ref, type))).toBeUndefined();
          expect(readJobSource(issuer, ofGitLab(ref, type))).toBeUndefined();
        }
        expect(readJobSource(issuer, ofGitLab(ref, undefined))).toBeUndefined();
        for (const id of NO_NUMBERS) {
          const github = { ...ofGitHub(ref, typeOf(ref)), repository_id: id };
          const gitlab = { ...ofGitLab(ref, typeOf(ref)), project_id: id };
          expect([id, readJobSource(issuer, github)]).toEqual([id, undefined]);
          expect([id, readJobSource(issuer, gitlab)]).toEqual([id, undefined]);
        }
      }
    }
  });

  it("is protected only if the host says so, and has a commit only of its form", () => {
    const claims = ofGitHub("refs/heads/main", "branch");
    for (const [ref_protected, is_protected] of [
      ["true", true],
      [true, true],
      ["false", false],
      ["yes", false],
      [undefined, false],
    ] as const) {
      expect(readJobSource(GITHUB, { ...claims, ref_protected })).toMatchObject({ is_protected });
    }
    expect(readJobSource(GITHUB, { ...claims, sha: SHA })?.sha).toBe(SHA);
    for (const sha of ["", "main", SHA.slice(1), `${SHA}\n`, 1]) {
      expect(readJobSource(GITHUB, { ...claims, sha })?.sha).toBeUndefined();
    }
  });
});
