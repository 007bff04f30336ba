import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createServiceCall } from '../../detection/as-code/service-client.ts';
import { toBundleFiles, type NamedSkill } from '../../detection/skills/skill-bundle.ts';
import { readSkillFolder, readSkillZip, writeSkillZip } from '../../detection/skills/skill-files.ts';
import { skillBounds, StoredContent, type Skill, type SkillList } from '../../detection/skills/skills.schema.ts';
import { AppError } from '../../platform/lib/errors.ts';
import { rejectArguments } from '../support/body-arguments.ts';
import { UsageError } from '../support/failures.ts';
import { printLines, printResult } from '../support/output.ts';
import { readServiceAccess } from '../support/service-access.ts';

type JsonOption = { json?: boolean | undefined };

/** Prints the skills of a service with the detections that use each. */
export async function listSkillsCommand({ json }: JsonOption): Promise<number> {
  const { skills } = (await createServiceCall(readServiceAccess())<SkillList>('GET', '/api/skills')).body;
  const lines = skills.map(
    ({ name, version, source, usedBy }) =>
      `${name}  ${source === 'shipped' ? 'shipped' : `version ${version}`}  used by ${usedBy.length}`,
  );
  return printResult(json, skills, lines);
}

/** Stores skills of folders and zip archives in a service. All are read before the first is stored. */
export async function importSkills(places: readonly string[], { json }: JsonOption): Promise<number> {
  const skills = places.map(readPlace);
  const call = createServiceCall(readServiceAccess());
  const stored: Skill[] = [];
  for (const { name, content } of skills)
    stored.push(
      (await call<Skill>('PUT', `/api/skills/${name}`, { body: content }).catch(rejectArguments({ files: name }))).body,
    );
  const lines = stored.map(({ name, version }) => `${name}: ${version === 0 ? 'as shipped' : `version ${version}`}`);
  return printResult(json, stored, lines);
}

/** Writes a skill to a folder of its name in TARGET, or to a zip archive. Checks the paths again, so that no service can have files written elsewhere. */
export async function exportSkillCommand(name: string, target: string, { force }: { force?: boolean | undefined }) {
  const call = createServiceCall(readServiceAccess());
  const { body: skill } = await call<Skill>('GET', `/api/skills/${encodeURIComponent(name)}`);
  const named: NamedSkill = { name, content: StoredContent.parse(skill) };
  const isArchive = target.endsWith('.zip');
  const place = isArchive ? target : join(target, name);
  if (existsSync(place) && !force) throw new UsageError(`${place} exists. --force overwrites its files.`);
  const files = isArchive ? [{ path: '', bytes: writeSkillZip(named) }] : toBundleFiles(named);
  for (const { path, bytes } of files) {
    const file = join(place, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, bytes);
  }
  printLines(`Wrote ${place}`);
  return 0;
}

function readPlace(place: string): NamedSkill {
  const found = statSync(place, { throwIfNoEntry: false });
  if (!found) throw new UsageError(`${place} does not exist.`);
  if (found.isFile() && found.size > skillBounds.zipBytesMax)
    throw new UsageError(`${place} is larger than ${skillBounds.zipBytesMax} bytes.`);
  try {
    return found.isDirectory() ? readSkillFolder(place) : readSkillZip(readFileSync(place));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new UsageError(`${place}: ${error.errors?.[0]?.detail ?? error.message}`, { cause: error });
  }
}
