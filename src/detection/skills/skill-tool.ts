import { z } from 'zod';
import { inOrg, type Db } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { foldWhitespace } from '../../platform/lib/text/canonical-text.ts';
import type { TextOrigin, ToolEffect } from '../../platform/models/model-tool.ts';
import type { NamedSkill } from './skill-bundle.ts';
import { loadShippedSkills } from './skill-files.ts';
import { findSkill } from './skills.store.ts';
import { SkillName } from './skills.schema.ts';

/** How many characters one call returns. A longer file is read in several calls. */
const charsMax = 20_000;

/** A skill that a detection or agent is allowed to read. `version` 0 ships with the service. */
export type AttachedSkill = NamedSkill & { version: number };

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
    'Skills of your organization. Before work that a description fits, read the skill with `read_skill` and follow it:',
    ...lines,
  ].join('\n');
}

const ReadSkillInput = z.strictObject({
  name: SkillName,
  path: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('A file that the skill mentions, such as references/fields.md. Default: the instructions.'),
  offset: z.int().min(0).max(1_000_000).default(0).describe('The `nextOffset` of the previous part of a long text.'),
});
type ReadSkillInput = z.infer<typeof ReadSkillInput>;

type SkillText =
  | { name: string; version: number; path: string; text: string; files?: string[]; nextOffset: number | null }
  | { error: string };

/**
 * The tool that reads attached skills. Their authors belong to the organization, so its results have that origin. `run` gets the skills of the
 * run and returns a text of at most 20,000 characters, or what is wrong with the input. It executes nothing.
 */
export const readSkillTool = {
  name: 'read_skill',
  description: 'Returns the instructions of a skill, or one of its text files.',
  input: ReadSkillInput,
  effect: 'read' as ToolEffect,
  origin: 'organization' as TextOrigin,
  seesOtherEntities: false,
  run({ name, path, offset }: ReadSkillInput, skills: readonly AttachedSkill[]): SkillText {
    const skill = skills.find((one) => one.name === name);
    if (!skill) return { error: `There is no skill ${name}. There are: ${list(skills.map((one) => one.name))}.` };
    const { body, files } = skill.content;
    const { version } = skill;
    if (path === undefined || path === 'SKILL.md') {
      const paths = files.filter(({ text }) => text !== undefined).map((file) => file.path);
      return { name, version, path: 'SKILL.md', ...cut(body, offset), files: paths };
    }
    const file = files.find((one) => one.path === path.replace(/^\.\//, ''));
    if (!file) return { error: `Skill ${name} has no file ${path}. It has: ${list(files.map((one) => one.path))}.` };
    if (file.text === undefined) return { error: `${path} is not a text.` };
    return { name, version, path: file.path, ...cut(file.text, offset) };
  },
};

const list = (names: readonly string[]): string => (names.length === 0 ? 'none' : names.join(', '));

/** Returns the part of a text from an offset on, without splitting a surrogate pair. */
function cut(text: string, offset: number): { text: string; nextOffset: number | null } {
  const part = text.slice(offset, offset + charsMax).replace(/[\ud800-\udbff]$/, '');
  const end = offset + part.length;
  return { text: part, nextOffset: end < text.length && part !== '' ? end : null };
}
