import type { OrgRole } from "../../src/lib/roles.ts";
import { Template } from "../support/template.ts";
import { accept, newPool, newProject, newWorld, type World } from "../support/world.ts";
import type { Bystander } from "./bystanders.ts";
import { Knowledge } from "./knowledge.ts";
import {
  type Leak,
  leakedKeys,
  leakedKeysOfPrograms,
  leakedRunnerToken,
  leakedSessionOfTwo,
  leakedSessions,
  ROLES,
  secretOf,
} from "./leaked-credentials.ts";
import { survey } from "./survey.ts";
import type { LeakWorker } from "./worker.ts";

/** What a sequence starts with. */
export interface Fixture {
  /** The organization of what leaks. */
  home: string;
  other: string;
  /** In the other organization, of the person of `session_of_two`. */
  otherMembershipId: string;
  /** Of that person. */
  address: string;
  poolId: string;
  leak: Leak;
  /** An owner's key of each organization. */
  owners: { home: string; other: string };
  bystanders: Bystander[];
  knowledge: Knowledge;
}

/** All kinds of credentials that leak, in two organizations of which each sequence has a copy. */
export class Fixtures {
  readonly #template: Template;
  readonly #original: Original;
  readonly #knowledge: Knowledge;

  private constructor(template: Template, original: Original, knowledge: Knowledge) {
    this.#template = template;
    this.#original = original;
    this.#knowledge = knowledge;
  }

  static async create(worker: LeakWorker): Promise<Fixtures> {
    const original = await newOriginal(worker);
    const { home, other } = original;
    const knowledge = new Knowledge();
    for (const world of [home, other]) await survey(worker, knowledge, world);
    const template = await Template.read([home.id, other.id]);
    return new Fixtures(template, original, knowledge);
  }

  /** With those twice that may do most. */
  get kinds(): string[] {
    const { leaks } = this.#original;
    const strong = leaks.filter(({ isFull, role }) => isFull && role !== "member");
    return [...leaks, ...strong].map(({ kind }) => kind);
  }

  async copy(kind: string): Promise<Fixture> {
    const { home, other, shared, poolId, leaks, bystanders } = this.#original;
    const leak = leaks.find((each) => each.kind === kind);
    if (!leak) throw new Error(`There is no ${kind}`);
    const owners = [secretOf(home), secretOf(other)];
    const secrets = new Set([leak.secret, ...owners, ...bystanders.map(({ key }) => key)]);
    const { of, find } = await this.#template.copy([...secrets]);
    return {
      home: of(home.id),
      other: of(other.id),
      otherMembershipId: of(shared.otherMembershipId),
      address: of(shared.address),
      poolId: of(poolId),
      leak: {
        ...leak,
        secret: of(leak.secret),
        membershipId: of(leak.membershipId),
        id: of(leak.id),
      },
      owners: { home: of(secretOf(home)), other: of(secretOf(other)) },
      bystanders: bystanders.map((each) => ({
        ...each,
        key: of(each.key),
        keyId: of(each.keyId),
        membershipId: of(each.membershipId),
        organizationId: of(each.organizationId),
      })),
      knowledge: this.#knowledge.copy(find),
    };
  }
}

interface Original {
  home: World;
  other: World;
  poolId: string;
  leaks: Leak[];
  bystanders: Bystander[];
  shared: { address: string; otherMembershipId: string };
}

async function newOriginal(worker: LeakWorker): Promise<Original> {
  const [home, other] = [await newWorld(), await newWorld()];
  const { id: projectId, default_environment_id: environmentId } = await newProject(home.client);
  const pool = await newPool(home, [environmentId]);
  const leaks = [...(await leakedKeysOfPrograms(home, worker)), leakedRunnerToken(home, pool)];
  const bystanders = [
    newBystander(home, "owner", "another person's key"),
    newBystander(other, "owner", "another organization's key"),
  ];
  for (const role of ROLES) {
    const person = await accept(home, { role });
    const holder = { membershipId: person.membershipId, role };
    leaks.push(...(await leakedKeys(home, holder, { projectId, environmentId })));
    leaks.push(...(await leakedSessions(home, holder, worker)));
    bystanders.push(newBystander(person, role, "the person's own key"));
    if (role === "owner") continue;
    bystanders.push(newBystander(await accept(home, { role }), role, "another person's key"));
  }
  const { leak, ...shared } = await leakedSessionOfTwo(home, other, worker);
  return { home, other, poolId: pool.id, leaks: [...leaks, leak], bystanders, shared };
}

function newBystander(person: World, role: OrgRole, kind: string): Bystander {
  const { membershipId, keyId, id: organizationId } = person;
  const ids = { membershipId, keyId, organizationId };
  return { ...ids, kind: `${kind} (${role})`, key: secretOf(person), role };
}
