import {
  NPM_SCOPE,
  PUBLISHED_PACKAGES,
  REPOSITORY,
  REPOSITORY_URL,
  RUNNER_IMAGE,
} from "../../src/lib/addresses.ts";

/** Printed by `npm run release`. */
export function describeAddresses(): string {
  const packages = PUBLISHED_PACKAGES.map((name) => `${NPM_SCOPE}/${name}`).join(", ");
  return `The project needs to own these addresses before it releases:

  GitHub repository  ${REPOSITORY_URL}
  GitHub Action      uses: ${REPOSITORY}@COMMIT
  npm scope          ${NPM_SCOPE}, for ${packages}
  Container image    ${RUNNER_IMAGE}

src/lib/addresses.ts has them. If you change one, \`npm test -- addresses\` lists the texts that follow it.
`;
}

/** Printed by `npm run release -- VERSION`, once the checkout has the version. */
export function describeNextSteps(version: string): string {
  return `This checkout is Longshore ${version}. Nothing is committed, tagged or published yet.

${describeAddresses()}
Before the first release, an owner sets up GitHub and npm: see "Release" in CONTRIBUTING.md.

Then you:

  1. Review the change:  git diff
  2. Commit it:          git commit --all --message "release: ${version}"
  3. Push it:            git push origin main
  4. When CI is green:   git tag --annotate v${version} --message "Longshore ${version}"
                         git push origin v${version}
  5. Approve the environment "release" in the run of release.yml that the tag starts.
`;
}
