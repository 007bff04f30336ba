import type { Candidate } from '../../analysis/candidate.ts';

const typeLabels: Record<string, string> = { ip: 'IP address', access_key: 'access key', url: 'URL' };

/** How sentences refer to the entity of a candidate: in a headline, within a sentence, and at its beginning. */
export type Subject = { plain: string; quoted: string; start: string };

export function nameSubject({ entity, entityType }: Candidate): Subject {
  if (entity === '*') return { plain: 'the whole window', quoted: 'the whole window', start: 'The whole window' };
  if (entity === '') return nameWithheld(entityType);
  const label = entityType === 'entity' ? '' : `${typeLabels[entityType] ?? entityType} `;
  const quoted = `${label}“${entity}”`;
  return { plain: `${label}${entity}`, quoted, start: quoted.charAt(0).toUpperCase() + quoted.slice(1) };
}

/** An entity whose name is addressed to a model is not quoted. */
function nameWithheld(entityType: string): Subject {
  const type = entityType === 'entity' ? 'entity' : (typeLabels[entityType] ?? entityType);
  const text = `${/^[aeio]/i.test(type) ? 'an' : 'a'} ${type} whose name is not quoted here`;
  return { plain: text, quoted: text, start: text.charAt(0).toUpperCase() + text.slice(1) };
}
