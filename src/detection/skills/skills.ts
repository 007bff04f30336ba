import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Author, Caller } from '../../platform/http/caller.ts';
import { appError, fieldError, staleError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import { listChangesSince, requireMatch } from '../../platform/orgs/record-version.ts';
import { bytesOf, checkContent, sortByPath, type NamedSkill } from './skill-bundle.ts';
import { loadShippedSkills, readSkillZip, writeSkillZip } from './skill-files.ts';
import {
  StoredContent,
  type Skill,
  type SkillContent,
  type SkillInput,
  type SkillList,
  type SkillVersions,
} from './skills.schema.ts';
import {
  deleteSkillVersions,
  findSkill,
  insertSkillVersion,
  listSkillNames,
  listSkills,
  listSkillUsers,
  listSkillVersions,
  lockSkills,
  replaceInSkills,
  sumSkillBytes,
  type SkillRow,
  type SkillVersionRow,
} from './skills.store.ts';

const skillsMax = 100;
const versionsMax = 20;
const bytesMax = 32 * 1024 * 1024;

type SkillDeps = { db: Db; clock: Clock };
type Users = Map<string, string[]>;

/** Lists the skills of the organization and those that ship with the service, by name. */
export async function getSkills({ db }: { db: Db }, { orgId }: Caller): Promise<SkillList> {
  const { rows, users } = await inOrg(db, orgId, async (tx) => ({
    rows: await listSkills(tx, orgId),
    users: await listSkillUsers(tx, orgId),
  }));
  const own = new Set(rows.map(({ name }) => name));
  const shipped = [...loadShippedSkills().values()].filter(({ name }) => !own.has(name));
  const skills = [...rows.map((row) => toSummary(row, users)), ...shipped.map((one) => toShippedSummary(one, users))];
  return { skills: skills.toSorted((a, b) => (a.name < b.name ? -1 : 1)) };
}

/** Returns a version of a skill. Default: the current one. Version 0 is the shipped one. Throws 404. */
export function getSkill({ db }: { db: Db }, { orgId }: Caller, name: string, version?: number): Promise<Skill> {
  return inOrg(db, orgId, (tx) => readSkill(tx, orgId, name, version));
}

/** Lists the versions of a skill, newest first. The shipped one is none of them. Throws 404. */
export async function getSkillVersions({ db }: { db: Db }, { orgId }: Caller, name: string): Promise<SkillVersions> {
  const rows = await inOrg(db, orgId, (tx) => listSkillVersions(tx, orgId, name));
  if (rows.length === 0 && !loadShippedSkills().has(name)) throw toNotFound(name);
  return {
    versions: rows.map(({ version, description, bytes, keyId, actor, createdAt }) => ({
      version,
      description,
      bytes,
      keyId,
      actor,
      createdAt: createdAt.toISOString(),
    })),
  };
}

/** Returns the zip archive of the current version of a skill. Throws 404. */
export async function exportSkill(deps: { db: Db }, caller: Caller, name: string): Promise<Buffer> {
  return writeSkillZip({ name, content: StoredContent.parse(await getSkill(deps, caller, name)) });
}

/** Creates a skill, or a version of it, from a zip archive. Throws 400 for an archive that is not a skill, and otherwise as `putSkill`. */
export function importSkill(deps: SkillDeps, caller: Caller, zip: Buffer, ifMatch?: string): Promise<Skill> {
  const { name, content } = readSkillZip(zip);
  return storeSkill(deps, caller, { name, content }, { ifMatch });
}

/**
 * Creates a skill, or a new version of it. Writes nothing if it is equal to the current version. Throws 400, 409 above a limit, and 409 or 412 if
 * the current version is not the one that the caller saw.
 */
export function putSkill(
  deps: SkillDeps,
  caller: Caller,
  name: string,
  { expectedRevision, ifMatch, ...content }: SkillInput & { ifMatch?: string | undefined },
): Promise<Skill> {
  checkContent(content);
  const sorted = { ...content, files: sortByPath(content.files) };
  return storeSkill(deps, caller, { name, content: sorted }, { ifMatch, expectedRevision });
}

function storeSkill(
  { db, clock }: SkillDeps,
  caller: Caller,
  { name, content }: NamedSkill,
  expected: ExpectedVersion,
): Promise<Skill> {
  const { orgId, keyId, subject: actor = null } = caller;
  return inOrg(db, orgId, async (tx) => {
    await lockSkills(tx, orgId);
    const before = await findSkill(tx, orgId, name);
    await checkVersion(tx, orgId, { name, before }, expected);
    const current = before?.content ?? loadShippedSkills().get(name)?.content;
    if (current && isSame(current, content)) return readSkill(tx, orgId, name);
    if (!before && (await listSkills(tx, orgId)).length >= skillsMax)
      throw appError('conflict', `An organization can have at most ${skillsMax} skills of its own. Delete one first.`);
    const now = clock();
    const createdAt = new Date(Math.max(now.getTime(), (before?.updatedAt.getTime() ?? 0) + 1));
    const version = (before?.version ?? 0) + 1;
    await insertSkillVersion(tx, orgId, { id: uuidv7(now), name, version, content, keyId, actor, createdAt });
    await deleteSkillVersions(tx, orgId, name, version - versionsMax);
    if ((await sumSkillBytes(tx, orgId)) > bytesMax)
      throw appError(
        'conflict',
        `The skills of an organization, with up to ${versionsMax} versions each, can have at most ${bytesMax} bytes. Delete one first.`,
      );
    const stored = (await findSkill(tx, orgId, name))!;
    await insertAudit(tx, caller, {
      ...audited(orgId, before ? 'changed' : 'created'),
      before: before ? summarize(before) : null,
      after: summarize(stored),
    });
    return readSkill(tx, orgId, name);
  });
}

/** Deletes a skill with all its versions and returns the last one. Throws 404, and 409 if it ships with the service or a detection uses it. */
export function removeSkill({ db }: { db: Db }, caller: Caller, name: string, ifMatch?: string): Promise<Skill> {
  const { orgId } = caller;
  return inOrg(db, orgId, async (tx) => {
    await lockSkills(tx, orgId);
    const before = await findSkill(tx, orgId, name);
    const isShipped = loadShippedSkills().has(name);
    if (!before && isShipped)
      throw appError(
        'conflict',
        `Skill ${name} ships with the service and cannot be deleted. It does nothing unless a detection uses it.`,
      );
    if (!before) throw toNotFound(name);
    await checkVersion(tx, orgId, { name, before }, { ifMatch });
    const skill = await readSkill(tx, orgId, name);
    if (skill.usedBy.length > 0 && !isShipped)
      throw appError(
        'conflict',
        `Skill ${name} is used by \`skills\` of ${skill.usedBy.length} detections: ${skill.usedBy.slice(0, 5).join(', ')}. Remove it there first.`,
      );
    await deleteSkillVersions(tx, orgId, name, before.version);
    await insertAudit(tx, caller, { ...audited(orgId, 'deleted'), before: summarize(before), after: null });
    return skill;
  });
}

/** Throws 400 for a name in a detection's `skills` that is no skill of the organization and does not ship with the service. */
export async function requireSkills(tx: Tx, orgId: OrgId, names: readonly string[]): Promise<void> {
  const others = names.filter((name) => !loadShippedSkills().has(name));
  const own = others.length === 0 ? [] : await listSkillNames(tx, orgId, others);
  const unknown = names.findIndex((name) => others.includes(name) && !own.includes(name));
  if (unknown !== -1)
    throw fieldError(
      `/skills/${unknown}`,
      'unknown_skill',
      `There is no skill ${names[unknown]}. \`GET /api/skills\` lists them.`,
    );
}

/** Replaces a value in all versions of skills. Returns their number. Files that are not text keep it. */
export async function eraseFromSkills(
  tx: Tx,
  orgId: OrgId,
  value: string,
  author: Author,
): Promise<{ skills: number }> {
  await lockSkills(tx, orgId);
  const before = new Map((await listSkills(tx, orgId)).map((row) => [row.name, row]));
  const skills = await replaceInSkills(tx, author, value);
  for (const row of skills === 0 ? [] : await listSkills(tx, orgId)) {
    const earlier = before.get(row.name)!;
    if (earlier.updatedAt.getTime() === row.updatedAt.getTime()) continue;
    await insertAudit(tx, author, {
      ...audited(orgId, 'erased'),
      before: summarize(earlier),
      after: summarize(row),
    });
  }
  return { skills };
}

async function readSkill(tx: Tx, orgId: OrgId, name: string, version?: number): Promise<Skill> {
  const row = version === 0 ? undefined : await findSkill(tx, orgId, name, version);
  const shipped = version === undefined || version === 0 ? loadShippedSkills().get(name) : undefined;
  const users = await listSkillUsers(tx, orgId);
  if (row) return { ...row.content, ...toSummary(row, users) };
  if (shipped) return { ...shipped.content, ...toShippedSummary(shipped, users) };
  throw toNotFound(version === undefined ? name : `${name} version ${version}`);
}

const toNotFound = (name: string) => appError('not_found', `Skill ${name} not found.`);

const toSummary = (
  { name, version, description, bytes, keyId, actor, updatedAt }: SkillVersionRow,
  users: Users,
): SkillList['skills'][number] => ({
  name,
  description,
  version,
  source: 'organization',
  replacesShipped: loadShippedSkills().has(name),
  bytes,
  usedBy: users.get(name) ?? [],
  keyId,
  actor,
  updatedAt: updatedAt.toISOString(),
  revision: updatedAt.getTime(),
});

const toShippedSummary = ({ name, content }: NamedSkill, users: Users): SkillList['skills'][number] => ({
  name,
  description: content.description,
  version: 0,
  source: 'shipped',
  replacesShipped: false,
  bytes: content.files.reduce((sum, file) => sum + bytesOf(file).length, Buffer.byteLength(content.body)),
  usedBy: users.get(name) ?? [],
  keyId: null,
  actor: null,
  updatedAt: null,
  revision: 0,
});

const isSame = (a: SkillContent, b: SkillContent): boolean =>
  JSON.stringify(toOrdered(a)) === JSON.stringify(toOrdered(b));

/** Returns the fields in one order, whatever the order in which a client sent them. */
const toOrdered = ({ metadata, files, ...content }: SkillContent): unknown[] => [
  Object.entries(content).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  Object.entries(metadata).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  files.map(({ path, text, base64 }) => [path, text, base64]),
];

const audited = (orgId: OrgId, action: string) => ({
  action: `skill.${action}`,
  resourceType: 'skill',
  resourceId: orgId,
});

/** The audit log does not repeat texts, which may name people. */
const summarize = ({ name, version, bytes, updatedAt }: SkillVersionRow | SkillRow) => ({
  name,
  version,
  bytes,
  updatedAt: updatedAt.toISOString(),
});

type ExpectedVersion = { ifMatch?: string | undefined; expectedRevision?: number | undefined };

/** Throws 412 for If-Match, and 409 for `expectedRevision`, unless a locked skill is the version that the caller saw. */
async function checkVersion(
  tx: Tx,
  orgId: OrgId,
  { name, before }: { name: string; before: SkillRow | undefined },
  { ifMatch, expectedRevision }: ExpectedVersion,
): Promise<void> {
  const resource = { resourceType: 'skill', resourceId: orgId, fields: { name } };
  await requireMatch(tx, ifMatch, { updatedAt: before?.updatedAt.toISOString() ?? null }, resource);
  const current = before?.updatedAt.getTime() ?? 0;
  if (expectedRevision === undefined || expectedRevision === current) return;
  const changes = await listChangesSince(tx, expectedRevision, resource);
  const detail = `The skill changed since revision ${expectedRevision}. \`stale\` lists what changed.`;
  throw staleError('/expectedRevision', detail, { current, changes });
}
