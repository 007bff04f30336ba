import { AttackFile, NamesFile } from '../src/feed/reference-data/reference-files.ts';
import { createWarningListLookup, type WarningList } from '../src/feed/reference-data/update/warning-lists.ts';
import { readRecordedJson } from './recorded-inputs.ts';

/** The large lists as they were recorded: what `tocsin knowledge update` takes. */
export const readRecordedAttack = (): AttackFile => AttackFile.parse(readRecordedJson('knowledge/attack.json'));
export const readRecordedNames = (): NamesFile => NamesFile.parse(readRecordedJson('knowledge/names.json'));
export const readRecordedWarningLists = (): ReturnType<typeof createWarningListLookup> =>
  createWarningListLookup(readRecordedJson<{ lists: WarningList[] }>('knowledge/warninglists.json.gz').lists);
