import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CloudFormationApi } from "./api.ts";

/** Stands in for the AWS command line, as far as docs/deploy-with/cloudformation.md uses it. */
const AWS = `#!/bin/sh
set -eu
case "$*" in
  "sts get-caller-identity --query Account --output text") echo 123456789012 ;;
  "cloudformation deploy --region eu-central-1 --stack-name deploy-roles --template-file "*)
    grep -q 'sts:ExternalId' "$8"
    for each; do case "$each" in
      ExternalId=?*) echo "\${each#*=}" > "$(dirname "$0")/external-id"; exit ;;
    esac; done
    echo "Not expected: aws without an external ID" >&2; exit 1 ;;
  "cloudformation delete-stack --region eu-central-1 --stack-name "*) ;;
  "cloudformation wait stack-delete-complete --region eu-central-1 --stack-name longshore-"*) ;;
  *) echo "Not expected: aws $*" >&2; exit 1 ;;
esac
`;

/** An account in which the roles have what the command was given, as docs/deploy-with/cloudformation.md needs it. */
export async function startAws() {
  const api = await CloudFormationApi.start();
  const folder = mkdtempSync(join(tmpdir(), "longshore-aws-"));
  writeFileSync(join(folder, "aws"), AWS, { mode: 0o755 });
  api.fault = ({ action }) => {
    if (action !== "AssumeRole") return undefined;
    const externalId = readFileSync(join(folder, "external-id"), "utf8").trim();
    api.roles.set(`arn:aws:iam::${api.account.accountId}:role/longshore-deploy`, externalId);
    return undefined;
  };
  // The runner passes on where the stand-in is, too.
  const passed = Object.keys(api.environment).filter((name) => name.startsWith("AWS_E"));
  const flags = passed.map((name) => `--show-env ${name}`).join(" ");
  return {
    environment: { ...api.environment, PATH: `${folder}:${process.env["PATH"] ?? ""}` },
    adapt: (commands: string) => commands.replace(/(--pass-env \w+)\n$/, `$1 ${flags}\n`),
    stop: async () => {
      rmSync(folder, { recursive: true });
      await api.stop();
    },
  };
}
