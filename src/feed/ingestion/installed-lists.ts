import type { ReferenceLists } from '../extraction/extract-item.ts';
import { parseNameTable } from '../extraction/names/dictionary/name-dictionary.ts';
import { useInstalledAttack } from '../reference-data/attack.ts';
import { buildNameTable } from '../reference-data/name-table.ts';
import {
  readInstalledAttack,
  readInstalledNames,
  readInstalledWarningLists,
} from '../reference-data/installed-data.ts';

/**
 * Applies the installed ATT&CK table to this thread and returns the installed lists. The main process reports unreadable files once, when it
 * starts (build-deps.ts).
 */
export function applyInstalledLists(dataDir: string): ReferenceLists {
  const attack = readInstalledAttack(dataDir);
  const names = readInstalledNames(dataDir);
  if (attack) useInstalledAttack(attack);
  return {
    benign: readInstalledWarningLists(dataDir),
    names: attack || names ? parseNameTable(buildNameTable(attack, names)) : undefined,
  };
}
