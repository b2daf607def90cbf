import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ProgramError } from "../../program/src/index.ts";

/** What is read of a kubeconfig, as JSON. */
export interface Kubeconfig {
  "current-context"?: string;
  contexts?: readonly { name: string; context: { namespace?: string } }[] | null;
}

/**
 * What a kubeconfig of the configuration may have. Others name programs of the runner's machine (`exec`), or files
 * that would be sent to the cluster (`tokenFile`, `client-key`), or another host (`proxy-url`).
 */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  cluster: [
    ...["server", "certificate-authority-data", "tls-server-name"],
    ...["insecure-skip-tls-verify", "disable-compression"],
  ],
  user: ["token", "client-certificate-data", "client-key-data", "username", "password"],
  context: ["cluster", "user", "namespace"],
};

const WHAT_TO_DO =
  "Print one with: kubectl config view --minify --flatten --raw --output json | tr -d '\\n'";

/** Writes it to a file that only the runner's user can read. */
export function writeKubeconfig(
  folder: string,
  text: string,
): { file: string; config: Kubeconfig } {
  const config = {
    apiVersion: "v1",
    kind: "Config",
    ...readKubeconfig(text),
  };
  const file = join(folder, "kubeconfig.json");
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  return { file, config };
}

function readKubeconfig(text: string): Kubeconfig {
  const given = toObject(parse(text));
  const current = given["current-context"];
  return {
    ...(typeof current === "string" && { "current-context": current }),
    ...{ clusters: readList(given, "cluster"), users: readList(given, "user") },
    contexts: readList(given, "context") as Kubeconfig["contexts"] & object,
  };
}

/** Its messages would quote the text. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ProgramError(`The setting kubeconfig must be JSON. ${WHAT_TO_DO}`);
  }
}

function readList(given: Record<string, unknown>, member: string) {
  const list = given[`${member}s`] ?? [];
  if (!Array.isArray(list)) throw wrong(`${member}s`);
  return list.map((each) => {
    const { name, [member]: value } = toObject(each);
    const known = toObject(value ?? {});
    const [other] = Object.keys(known).filter((key) => !MEMBERS[member]?.includes(key));
    if (typeof name !== "string" || Object.values(known).some((each) => typeof each === "object")) {
      throw wrong(`${member}s`);
    }
    if (other !== undefined) {
      throw new ProgramError(
        `The setting kubeconfig has a ${member} with a member that only the operator of the runner may use, such as ` +
          `exec, or files of the machine. ${WHAT_TO_DO}`,
      );
    }
    if (member === "cluster" && !String(known["server"]).startsWith("https://")) {
      throw new ProgramError("The setting kubeconfig has a cluster whose server is not https.");
    }
    return { name, [member]: known };
  });
}

function toObject(value: unknown): Record<string, unknown> {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isObject) throw wrong("objects");
  return value as Record<string, unknown>;
}

function wrong(what: string): ProgramError {
  return new ProgramError(
    `The setting kubeconfig has other ${what} than a kubeconfig. ${WHAT_TO_DO}`,
  );
}
