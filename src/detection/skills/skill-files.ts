import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { zipSync } from 'fflate';
import { type Db, inOrg } from '../../platform/db/db.ts';
import { fieldError } from '../../platform/lib/errors.ts';
import { ExternalError } from '../../platform/lib/external-error.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { isZip, readZip } from '../../platform/lib/storage/zip.ts';
import { foldWhitespace } from '../../platform/lib/text/canonical-text.ts';
import { type BundleFile, type NamedSkill, readBundle, toBundleFiles } from './skill-bundle.ts';
import { skillBounds } from './skills.schema.ts';
import { findSkill } from './skills.store.ts';

/** Every file counts, also `SKILL.md`. */
const filesMax = skillBounds.filesMax + 1;
/** Archives of the same skill are equal, byte for byte. */
const archiveTime = new Date(2000, 0, 1);

/** Returns whether a path belongs to a file manager or to version control instead of the skill. */
const isForeign = (path: string): boolean =>
  path
    .split('/')
    .some((part) => part === '__MACOSX' || part === '.DS_Store' || part === '.git' || part === 'Thumbs.db');

/**
 * Reads a skill from a zip archive with `SKILL.md` at its root or in its one folder. Nothing is written to disk. Throws a 400 for anything else,
 * and for an archive that exceeds the bounds of a skill.
 */
export function readSkillZip(bytes: Buffer): NamedSkill {
  if (!isZip(bytes)) throw refuseArchive('The body is not a zip archive.');
  const entries = unzip(bytes).map(({ name, bytes }) => ({ path: name, bytes }));
  const mains = entries.filter(({ path }) => /^(?:[^/]+\/)?SKILL\.md$/.test(path));
  const root = mains.find(({ path }) => path === 'SKILL.md') ?? mains[0];
  const folder = root === undefined || root.path === 'SKILL.md' ? null : root.path.split('/')[0]!;
  const outside = entries.find(({ path }) => folder !== null && !path.startsWith(`${folder}/`));
  if (outside)
    throw refuseArchive(`The archive must contain one skill, but ${outside.path} is outside of the folder ${folder}.`);
  const files = entries.map((file) => (folder === null ? file : { ...file, path: file.path.slice(folder.length + 1) }));
  return readBundle(folder, files);
}

function unzip(bytes: Buffer) {
  const bounds = { entriesMax: filesMax, entryMaxBytes: skillBounds.fileBytesMax, totalMaxBytes: skillBounds.bytesMax };
  try {
    return readZip(bytes, (name) => !name.endsWith('/') && !isForeign(name), bounds);
  } catch (error) {
    if (!(error instanceof ExternalError)) throw error;
    throw refuseArchive(`${error.message[0]!.toUpperCase()}${error.message.slice(1)}.`);
  }
}

const refuseArchive = (detail: string): Error => fieldError('', 'invalid_archive', detail);

/** Returns the zip archive of a skill, with its folder. */
export const writeSkillZip = (skill: NamedSkill): Buffer =>
  Buffer.from(
    zipSync(Object.fromEntries(toBundleFiles(skill).map(({ path, bytes }) => [`${skill.name}/${path}`, bytes])), {
      mtime: archiveTime,
    }),
  );

/** Reads a skill from its folder. Links are not followed. Throws a 400 for anything that is not a skill. */
export function readSkillFolder(folder: string): NamedSkill {
  const files: BundleFile[] = [];
  let bytes = 0;
  const visit = (path: string): void => {
    for (const name of readdirSync(join(folder, path)).toSorted()) {
      const relative = path === '' ? name : `${path}/${name}`;
      if (isForeign(relative)) continue;
      const entry = lstatSync(join(folder, relative));
      if (entry.isDirectory()) visit(relative);
      if (!entry.isFile()) continue;
      bytes += entry.size;
      if (files.length === filesMax) throw refuseArchive(`${folder} has more than ${skillBounds.filesMax} files.`);
      if (bytes > skillBounds.bytesMax)
        throw refuseArchive(`${folder} has files of more than ${skillBounds.bytesMax} bytes.`);
      files.push({ path: relative, bytes: readFileSync(join(folder, relative)) });
    }
  };
  visit('');
  return readBundle(basename(resolve(folder)), files);
}

/** The folder of the shipped skills. Each is a folder in it. */
const shippedDir = resolve(import.meta.dirname, '../../../skills');

let shipped: ReadonlyMap<string, NamedSkill> | undefined;

/** Returns every skill that ships with the service by name. The files are read once. */
export function loadShippedSkills(): ReadonlyMap<string, NamedSkill> {
  shipped ??= new Map(
    readdirSync(shippedDir)
      .toSorted()
      .filter((name) => statSync(join(shippedDir, name)).isDirectory())
      .map((name) => readSkillFolder(join(shippedDir, name)))
      .map((skill) => [skill.name, skill]),
  );
  return shipped;
}

/** A skill that a detection or agent is allowed to read. `version` 0 ships with the service. */
type AttachedSkill = NamedSkill & { version: number };

/** Returns the current versions of the skills that a detection's `skills` has, in its order. One that was deleted since is left out. */
export async function loadAttachedSkills(db: Db, orgId: OrgId, names: readonly string[]): Promise<AttachedSkill[]> {
  if (names.length === 0) return [];
  return inOrg(db, orgId, async (tx) => {
    const skills: AttachedSkill[] = [];
    for (const name of names) {
      const own = await findSkill(tx, orgId, name);
      const shipped = loadShippedSkills().get(name);
      if (own) skills.push({ name, version: own.version, content: own.content });
      else if (shipped) skills.push({ ...shipped, version: 0 });
    }
    return skills;
  });
}

/**
 * Returns the part of a system prompt that lists skills: their names and descriptions, as "progressive disclosure" of the Agent Skills
 * specification wants. Empty without skills. It is the same for all candidates of a run, so that providers can cache it.
 */
export function renderSkillList(skills: readonly NamedSkill[]): string {
  if (skills.length === 0) return '';
  const lines = skills.map(({ name, content }) => `- ${name}: ${foldWhitespace(content.description).trim()}`);
  return [
    'Skills of your organization. Before work that a description fits, read the skill with read_skill and follow it:',
    ...lines,
  ].join('\n');
}
