import {
  AssumeRoleCommand,
  type AssumeRoleCommandOutput,
  GetCallerIdentityCommand,
  STSClient,
  type STSClientConfig,
} from "@aws-sdk/client-sts";
import type { StackInput } from "../../../runner/src/stack-input.ts";
import { ProgramError } from "../../program/src/index.ts";
import { CLIENT_OPTIONS } from "./client-options.ts";
import { type CloudFormationSettings, REGION } from "./settings.ts";

/** What the project is connected to. */
export interface AwsAccount {
  account_id: string;
  region: string;
  role_arn?: string;
  external_id?: string;
}

/** Where a stack is deployed, and as whom. Without credentials: the runner's own. */
export type AwsTarget = Pick<STSClientConfig, "credentials"> & { region: string };

type Provider = () => Promise<{
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string;
  expiration: Date;
}>;

/** Throws a `ProgramError` if the runner's own credentials are for another account. */
export async function findTarget(
  input: StackInput,
  settings: CloudFormationSettings,
): Promise<AwsTarget> {
  const account = readConnection(input);
  const region = settings.region ?? account.region;
  if (!REGION.pattern.test(region)) {
    throw new ProgramError(`The setting region must be ${REGION.description}.`);
  }
  const sts = new STSClient({ ...CLIENT_OPTIONS, region });
  if (account.role_arn !== undefined) {
    return { region, credentials: assumeRole(sts, account, `longshore-${input.deployment.id}`) };
  }
  const { Account } = await sts.send(new GetCallerIdentityCommand({}));
  if (Account === account.account_id) return { region };
  throw new ProgramError(
    `The credentials of the runner are for the AWS account ${Account}, and the project is connected to ` +
      `${account.account_id}. Connect the project with a role, or start the runner with other credentials.`,
  );
}

function readConnection({ connection, project }: StackInput): AwsAccount {
  const account = connection as (AwsAccount & { provider: string }) | undefined;
  if (account?.provider === "aws") return account;
  throw new ProgramError(
    "The project is not connected to an AWS account. Connect it: longshore projects connect " +
      `${project.id} --account-id ID --region REGION --role-arn ARN`,
  );
}

/** The SDK calls it again before the credentials expire. */
function assumeRole(sts: STSClient, { role_arn, external_id }: AwsAccount, name: string): Provider {
  return async () => {
    const command = new AssumeRoleCommand({
      RoleArn: role_arn,
      RoleSessionName: toSessionName(name),
      ExternalId: external_id,
    });
    try {
      return readCredentials(await sts.send(command));
    } catch (error) {
      if (!(error instanceof Error) || !error.name.startsWith("AccessDenied")) throw error;
      throw new ProgramError(
        `The runner may not assume the role of the connection: ${error.message}. Its trust policy must allow ` +
          "the runner's own identity, with the external ID of the project.",
      );
    }
  };
}

function readCredentials({ Credentials }: AssumeRoleCommandOutput) {
  const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = Credentials ?? {};
  if (!AccessKeyId || !SecretAccessKey || !SessionToken || !Expiration) {
    throw new ProgramError("AWS has assumed the role of the connection, but gave no credentials.");
  }
  return {
    accessKeyId: AccessKeyId,
    secretAccessKey: SecretAccessKey,
    sessionToken: SessionToken,
    expiration: Expiration,
  };
}

/** As AWS limits it. */
function toSessionName(name: string): string {
  return name.replaceAll(/[^\w+=,.@-]/g, "-").slice(0, 64);
}
