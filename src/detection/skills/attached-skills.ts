import { inOrg, type Db } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { foldWhitespace } from '../../platform/lib/text/canonical-text.ts';
import type { NamedSkill } from './skill-bundle.ts';
import { loadShippedSkills } from './skill-files.ts';
import { findSkill } from './skills.store.ts';

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
    'Skills of your organization. Before work that a description fits, read the skill with read_skill and follow it:',
    ...lines,
  ].join('\n');
}
