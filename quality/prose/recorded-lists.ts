import { AttackFile, NamesFile } from '../../src/feed/reference-data/reference-files.ts';
import {
  createWarningListLookup,
  type WarningList,
  type WarningListLookup,
} from '../../src/feed/reference-data/warning-lists.ts';
import { readRecordedJson } from '../recorded-inputs.ts';

// Recorded files of the kind that `tocsin knowledge update` installs.
export const readRecordedAttack = (): AttackFile => AttackFile.parse(readRecordedJson('knowledge/attack.json'));
export const readRecordedNames = (): NamesFile => NamesFile.parse(readRecordedJson('knowledge/names.json'));
export const readRecordedWarningLists = (): WarningListLookup =>
  createWarningListLookup(readRecordedJson<{ lists: WarningList[] }>('knowledge/warninglists.json.gz').lists);
