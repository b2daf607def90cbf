import { useState } from "preact/hooks";
import { readRepository, shortRef } from "../../../../cli/src/git/repository.ts";
import type { Schemas } from "../../api.ts";
import { type FormFields, TextField } from "../../components/form.tsx";
import { repositoryName } from "../deployment/source.tsx";

type Git = Schemas["GitSource"];

/** The only form that runners accept. */
const SHA = /^[0-9a-f]{40}$/i;
const BRANCHES = "refs/heads/";
const TAGS = "refs/tags/";

interface CommitFieldsProps {
  /** From an earlier deployment, whose repository has the commit. Undefined: there is none, so people name it. */
  earlier: Git | undefined;
  error: unknown;
}

/** The fields that belong to a commit are there once it is given. */
export function CommitFields({ earlier, error }: CommitFieldsProps) {
  const [hasCommit, setHasCommit] = useState(false);
  const [kind, other] = isTag(earlier)
    ? ["A tag", `a branch in full: ${BRANCHES}main`]
    : ["A branch", `a tag in full: ${TAGS}v1.4.2`];
  return (
    <>
      <TextField
        name="sha"
        label="Commit (optional)"
        error={error}
        onInput={(text) => setHasCommit(text.trim() !== "")}
        hint={
          <>
            The full hash
            {earlier && (
              <>
                {" "}
                of a commit in <bdi>{repositoryName(earlier)}</bdi>
              </>
            )}
          </>
        }
      />
      {hasCommit && (
        <>
          <TextField
            name="ref"
            label="Branch or tag"
            required
            value={earlier && shortRef(earlier.ref)}
            error={error}
            hint={`${kind} that has the commit. Write ${other}`}
          />
          {!earlier && (
            <TextField
              name="url"
              label="Repository URL"
              required
              error={error}
              hint="With https, ssh or file, such as https://github.com/acme/shop"
            />
          )}
        </>
      )}
    </>
  );
}

/**
 * Undefined: the commit is left empty.
 * @throws Error if it is not a full hash. The service checks the rest.
 */
export function readGit(
  fields: FormFields,
  earlier: Git | undefined,
): Schemas["GitSourceInput"] | undefined {
  const sha = fields.optional("sha");
  if (sha === undefined) return undefined;
  if (!SHA.test(sha)) {
    throw new Error("Enter the commit's full hash, 40 characters long. git rev-parse prints it.");
  }
  const ref = fields.text("ref");
  return {
    ...(earlier ? repositoryOf(earlier) : readUrl(fields.text("url"))),
    ref: ref.startsWith("refs/") ? ref : `${isTag(earlier) ? TAGS : BRANCHES}${ref}`,
    // What only the repository knows stays empty.
    commit: { sha: sha.toLowerCase(), message: "", author: {}, committer: {} },
  };
}

function isTag(git: Git | undefined): boolean {
  return git?.ref.startsWith(TAGS) === true;
}

function repositoryOf(git: Git) {
  const { commit: _commit, ref: _ref, pull_request: _pullRequest, ...repository } = git;
  return repository;
}

/** The service says what is wrong with a URL that names no repository. */
function readUrl(url: string) {
  return readRepository(url) ?? { provider: "git" as const, url };
}
