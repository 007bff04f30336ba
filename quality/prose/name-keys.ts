import { nameKey } from '../../src/feed/reference-data/name-forms.ts';

/** Returns the comparison form of a name without the noun for its kind: `Foobar RAT` and `Foobar` are the same name. */
export const toKey = (name: string): string =>
  nameKey(name.replace(/(?<=\S) (?:RAT|ransomware|malware|stealer|loader|worm|botnet)$/i, ''));
