import { nameKey, needsCue } from '../../../reference-data/name-forms.ts';
import { getShippedNames, type NameDictionary, type NameKind } from './name-dictionary.ts';
import { distinctEntities } from './resolve-name.ts';

const tagMaxChars = 60;

/** Returns whether a canonical name has several words, such as `Cobalt Strike`, which no everyday word is however the tag is written. */
const isPhrase = (tag: string, name: string): boolean => /\s/.test(name) && nameKey(tag) === nameKey(name);

const prefix = /^(?:malware|family|malware[-_ ]family|actor|threat[-_ ]actor|tool|ransomware)\s*[:=]\s*/i;

/**
 * Returns the malware, actor or tool that a free tag names, such as `emotet` or `malware:Emotet`. Undefined for a tag that no list has, that is
 * also an everyday word, or that several have.
 */
export function findTaggedName(
  tag: string,
  dictionary: NameDictionary = getShippedNames(),
): { kind: NameKind; name: string } | undefined {
  if (tag.length > tagMaxChars) return undefined;
  const name = tag
    .trim()
    .replace(prefix, '')
    .replace(/^"(.*)"$/, '$1');
  const entry = dictionary.get(nameKey(name));
  const [entity, ...others] = distinctEntities(entry?.entities ?? []);
  if (!entry || !entity || others.length > 0) return undefined;
  const isWord = entry.needsCue || needsCue(name);
  return isWord && !isPhrase(name, entity.name) ? undefined : { kind: entity.kind, name };
}
