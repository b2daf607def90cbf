import { sourceUrl } from "../../../../src/lib/addresses.ts";
import { SCRIPT_FILE, type Tool } from "./detect.ts";

/** What a `deploy.sh` needs to know about the folder. */
export interface ScriptOptions {
  tool: Exclude<Tool, "command">;
  /** The file or the folder that the tool deploys. Absent: the usual one. */
  path?: string | undefined;
}

const HEAD = String.raw`#!/bin/sh
# The runner of Longshore runs this for each stack of a deployment. What it gets, and what it may report:
# ${sourceUrl("docs/executors.md")}
set -eu

report() { printf '%s\n' "$1" >> "$LONGSHORE_REPORT_FILE"; }
json() { printf '"%s"' "$(printf %s "$1" | tr -d '[:cntrl:]' | sed 's/[\\"]/\\&/g')"; }
resource() {
  report "{\"resource\":{\"template_id\":$(json "$1"),\"resource_type\":$(json "$2"),\"status\":\"$3\"}}"
}
output() { report "{\"output\":{\"name\":$(json "$1"),\"value\":$(json "$2")}}"; }
`;

const LOWER = `
# An ID in lower case, which the tool needs. No ID has a 0, so a 0 before each capital letter keeps two IDs apart.
lower() { printf %s "$1" | sed 's/[[:upper:]]/0&/g' | tr '[:upper:]' '[:lower:]'; }
`;

const START = `
echo "Deploying $LONGSHORE_STACK_NAME to $LONGSHORE_ENVIRONMENT_NAME of $LONGSHORE_PROJECT_NAME"
`;

/** Where the tool does not say it. */
const URL_OF_VARIABLE = `
# Where people open it, such as: longshore vars set URL=https://staging.example.com --string
if [ -n "\${URL:-}" ]; then output url "$URL"; fi
`;

const SCRIPT = `${START}
# It has failed unless it gets to its end.
trap '[ $? -eq 0 ] || resource release Release UPDATE_FAILED' EXIT
resource release Release UPDATE_IN_PROGRESS

# Write the commands that deploy here. The variables of the environment are variables of the shell, and its
# configuration is in a file.
echo "Image \${LONGSHORE_IMAGE:-none}, commit \${LONGSHORE_COMMIT:-none}, configuration:"
cat "$LONGSHORE_CONFIGURATION_FILE"
echo

resource release Release UPDATE_COMPLETE
${URL_OF_VARIABLE}`;

const WORKERS = String.raw`${START}
# What wrangler has deployed, as JSON lines, in the folder that the runner removes.
WRANGLER_OUTPUT_FILE_PATH=$(dirname "$LONGSHORE_REPORT_FILE")/wrangler.ndjson
export WRANGLER_OUTPUT_FILE_PATH

# Without a section for the environment, the name of the Worker ends in the name of the environment. So two stacks
# of an environment deploy the same Worker.
npx wrangler deploy --env="$LONGSHORE_ENVIRONMENT_NAME"

node --input-type=module - <<'END' >> "$LONGSHORE_REPORT_FILE"
import { readFileSync } from "node:fs";
const lines = readFileSync(process.env.WRANGLER_OUTPUT_FILE_PATH, "utf8").trim().split("\n");
for (const { type, worker_name, version_id, targets } of lines.map((line) => JSON.parse(line))) {
  if (type !== "deploy") continue;
  const resource = { template_id: worker_name, resource_type: "Worker", status: "UPDATE_COMPLETE" };
  console.log(JSON.stringify({ resource: { ...resource, physical_id: version_id ?? undefined } }));
  const url = targets?.find((target) => target.startsWith("https://"));
  if (url) console.log(JSON.stringify({ output: { name: "url", value: url } }));
}
END
`;

const compose = (file: string) => String.raw`${LOWER}${START}
# A project of compose for each stack, so that the next deployment replaces its containers.
COMPOSE_PROJECT_NAME=longshore-$(lower "$LONGSHORE_STACK_ID")
COMPOSE_FILE=${file}
export COMPOSE_PROJECT_NAME COMPOSE_FILE

services=$(docker compose config --services)
each() { printf '%s\n' "$services" | while read -r name; do resource "$name" Service "$1"; done; }
each UPDATE_IN_PROGRESS
docker compose up --detach --wait --remove-orphans || { each UPDATE_FAILED; exit 1; }
each UPDATE_COMPLETE
${URL_OF_VARIABLE}`;

const TERRAFORM = String.raw`${LOWER}${START}
# A workspace for each stack, by its ID: names change, and two may differ in a character that a workspace cannot
# have. The state is where the configuration of the backend says.
export TF_IN_AUTOMATION=1
terraform init -input=false
terraform workspace select -or-create "longshore-$(lower "$LONGSHORE_STACK_ID")"
terraform apply -input=false -auto-approve

addresses=$(terraform state list)
printf '%s\n' "$addresses" | while read -r address; do
  type=$(printf %s "$address" | sed 's/\[[^]]*\]//g; s/\.[^.]*$//; s/.*\.//')
  if [ -n "$address" ]; then resource "$address" "$type" UPDATE_COMPLETE; fi
done
# The output "url", if there is one, is where people open it.
url=$(terraform output -raw url 2> /dev/null) || url=
case $url in http://* | https://*) output url "$url" ;; esac
`;

const cloudFormation = (file: string) => String.raw`${LOWER}${START}
# By its ID: names change, and two may differ in a character that CloudFormation does not accept.
stack=longshore-$(lower "$LONGSHORE_STACK_ID")
aws cloudformation deploy --template-file ${file} --stack-name "$stack" \
  --capabilities CAPABILITY_NAMED_IAM CAPABILITY_AUTO_EXPAND --no-fail-on-empty-changeset

resources=$(aws cloudformation describe-stack-resources --stack-name "$stack" --output text \
  --query 'StackResources[].[LogicalResourceId,ResourceType,ResourceStatus]')
printf '%s\n' "$resources" | while read -r id type status; do resource "$id" "$type" "$status"; done

outputs=$(aws cloudformation describe-stacks --stack-name "$stack" --output text \
  --query 'Stacks[0].Outputs[].[OutputKey,OutputValue]')
printf '%s\n' "$outputs" | while read -r name value; do
  # The output "Url" of the template, if there is one, is where people open it.
  case $name in
    '' | None) ;;
    [Uu]rl | URL) output url "$value" ;;
    *) output "$name" "$value" ;;
  esac
done
`;

const kubernetes = (path: string) => String.raw`${LOWER}${START}
# A namespace for each environment, in the cluster that kubectl is configured for. By its ID: names change, and two
# may differ in a character that a namespace cannot have.
namespace=longshore-$(lower "$LONGSHORE_ENVIRONMENT_ID")
kubectl get namespace "$namespace" > /dev/null 2>&1 || kubectl create namespace "$namespace"
objects=$(kubectl apply --namespace "$namespace" --filename ${path} --output name)
printf '%s\n' "$objects" | while read -r object; do
  kind=${"$"}{object%%/*}
  case $kind in
    deployment.* | statefulset.* | daemonset.*)
      resource "$object" "$kind" UPDATE_IN_PROGRESS
      kubectl rollout status --namespace "$namespace" --timeout 10m "$object" ||
        { resource "$object" "$kind" UPDATE_FAILED; exit 1; }
      ;;
  esac
  resource "$object" "$kind" UPDATE_COMPLETE
done
${URL_OF_VARIABLE}`;

const BODIES: Record<ScriptOptions["tool"], (path: string) => string> = {
  script: () => SCRIPT,
  workers: () => WORKERS,
  compose,
  terraform: () => TERRAFORM,
  cloudformation: cloudFormation,
  kubernetes,
};

/** Of what a tool deploys, in a folder that does not have it yet. */
export const USUAL_PATHS: Partial<Record<Tool, string>> = {
  script: SCRIPT_FILE,
  compose: "compose.yaml",
  cloudformation: "template.yaml",
  kubernetes: "k8s",
};

const CLOUDFLARE = ["CLOUDFLARE_API_TOKEN", "CLOUDFLARE_ACCOUNT_ID"];
const AWS = [
  ...["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"],
  ...["AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION"],
];

/** The variables with which a tool finds its account. The runner passes those that are set. */
export const CREDENTIALS: Record<Tool, readonly string[]> = {
  script: [],
  workers: CLOUDFLARE,
  compose: ["DOCKER_HOST", "DOCKER_CONTEXT"],
  terraform: [...AWS, ...CLOUDFLARE, "GOOGLE_APPLICATION_CREDENTIALS"],
  cloudformation: AWS,
  kubernetes: ["KUBECONFIG"],
  command: [],
};

/** The passed names whose values are no secrets, so that the log may show them. */
export const HARMLESS: readonly string[] = [
  ...["AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "CLOUDFLARE_ACCOUNT_ID"],
  ...["DOCKER_HOST", "DOCKER_CONTEXT", "GOOGLE_APPLICATION_CREDENTIALS", "KUBECONFIG"],
];

/** The `deploy.sh` that calls the tool. */
export function renderScript({ tool, path = USUAL_PATHS[tool] ?? "" }: ScriptOptions): string {
  return `${HEAD}${BODIES[tool](quote(`./${path}`)).trimEnd()}\n`;
}

/** One argument for a shell. */
export function quote(text: string): string {
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
