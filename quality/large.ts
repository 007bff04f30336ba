import { Attack, Names } from '../src/feed/reference-data/reference-files.ts';
import { readWarninglists, type Warninglist } from '../src/feed/reference-data/update/warning-lists.ts';
import { jsonOf } from './data.ts';

/** The large lists as they were recorded: what `tocsin knowledge update` takes. */
export const largeAttack = (): Attack => Attack.parse(jsonOf('knowledge/attack.json'));
export const largeNames = (): Names => Names.parse(jsonOf('knowledge/names.json'));
export const largeBenign = (): ReturnType<typeof readWarninglists> =>
  readWarninglists(jsonOf<{ lists: Warninglist[] }>('knowledge/warninglists.json.gz').lists);
