import { readShippedAttackNames } from '../../../reference-data/attack.ts';
import { nameKey } from '../../../reference-data/name-forms.ts';
import type { NameKind } from './name-dictionary.ts';

let shipped: ReadonlyMap<string, string> | undefined;

const toKey = (isGroup: boolean, name: string): string => `${isGroup ? 'group' : 'software'} ${nameKey(name)}`;

/** Returns the ATT&CK id of the group or software with a canonical name. It is the same in every installation of a release. */
export function findAttackId(kind: NameKind, name: string): string | undefined {
  shipped ??= new Map(readShippedAttackNames().map(({ id, name: one }) => [toKey(id.startsWith('G'), one), id]));
  return shipped.get(toKey(kind === 'actor', name));
}
