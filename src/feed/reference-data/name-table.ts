import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ownValue } from '../../platform/lib/json/json-values.ts';
import { readShippedAttackNames } from './attack.ts';
import { groupByKeys, joinEntries, type NameEntry, type NameRecord } from './join-entries.ts';
import { cleanName, isName, nameKey, needsCue } from './name-forms.ts';
import type { AttackFile, NamesFile } from './reference-files.ts';

export const readShippedNameTable = (): string =>
  readFileSync(resolve(import.meta.dirname, 'shipped/names.tsv'), 'utf8');

/** Lists the names of ATT&CK, then those of MISP galaxy. */
export function listNameRecords(attack: AttackFile | undefined, names: NamesFile | undefined): NameRecord[] {
  return [
    ...(attack?.groups ?? []).map(({ id, name, aliases }): NameRecord => ({ kind: 'actor', name, aliases, id })),
    ...(attack?.software ?? []).map(({ id, name, aliases, type }): NameRecord => ({ kind: type, name, aliases, id })),
    ...(names?.names ?? []).map(({ name, aliases, kind }): NameRecord => ({ kind: toNameKind(kind), name, aliases })),
  ];
}

/** Merges installed names into the shipped table. Shipped names keep their cue marks. Names of installed ATT&CK data replace those shipped. */
export function buildNameTable(attack: AttackFile | undefined, names: NamesFile | undefined): string {
  const table = readShippedNameTable();
  if (!attack && !names) return table;
  const cueMarks = new Map<string, boolean>();
  const form = (marked: string): string => {
    const bare = marked.replace(/^!/, '');
    cueMarks.set(nameKey(bare), marked !== bare);
    return bare;
  };
  const keyOf = (isActor: boolean, name: string): string => `${isActor} ${nameKey(name)}`;
  const ofAttack = new Map(
    readShippedAttackNames()
      .toReversed()
      .map((one) => [keyOf(one.id.startsWith('G'), cleanName(one.name)), one]),
  );
  const shipped = table
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .flatMap((line): NameRecord[] => {
      const [stated = '', marked = '', joined = ''] = line.split('\t');
      const kind = toNameKind(stated);
      const name = form(marked);
      const aliases = joined.split('|').filter(Boolean).map(form);
      const attackName = ofAttack.get(keyOf(kind === 'actor', name));
      // The table does not distinguish the aliases of ATT&CK from those of other lists.
      return [...(attackName ? [{ ...attackName, kind }] : []), { kind, name, aliases }];
    });
  const merged = mergeNames([...shipped, ...listNameRecords(attack, names)]);
  return formatNameTable(merged, (key) => cueMarks.get(key)).join('\n');
}

const kinds: Record<string, NameRecord['kind']> = {
  'threat-actor': 'actor',
  actor: 'actor',
  tool: 'tool',
};

/** Maps the kind that a list states. All malware families are `malware`. */
const toNameKind = (kind: string): NameRecord['kind'] => ownValue(kinds, kind) ?? 'malware';

/** Names that Malpedia uses until a family has a name. */
const placeholder = /^unidentified[_ ]/i;

/**
 * Merges the names of several sources in order.
 *
 * - Records with the same name or the same ATT&CK id are one entry. Malware and tools share their names.
 * - Entries with different ATT&CK ids are never merged, unless ATT&CK lists the name of one as an alias of the other.
 * - A name of ATT&CK belongs to the entry to which ATT&CK assigns it. Other entries lose it.
 * - The main name is chosen by `canonicalName`.
 */
export function mergeNames(named: Iterable<NameRecord>): NameRecord[] {
  const all = [...named];
  const series = countSeries(all.map(({ name }) => name));
  const entries = joinEntries(collectEntries(all));
  for (const isGroup of [true, false]) dropForeignNames(entries.filter(({ kind }) => (kind === 'actor') === isGroup));
  return entries.map((entry) => {
    const name = canonicalName(entry, series);
    const forms = [...entry.forms].filter(([key]) => key !== nameKey(name));
    return { kind: entry.kind, name, aliases: forms.map(([, printed]) => printed) };
  });
}

function collectEntries(named: NameRecord[]): NameEntry[] {
  const byKey = new Map<string, NameEntry>();
  for (const { kind, name, aliases, id } of named) {
    const main = cleanName(name);
    if (!isName(main) || placeholder.test(main)) continue;
    const byName = `${kind === 'actor' ? 'actor' : 'software'} ${nameKey(main)}`;
    const entry = (id === undefined ? undefined : byKey.get(id)) ?? byKey.get(byName) ?? newEntry(kind);
    byKey.set(byName, entry);
    entry.mains.push(main);
    for (const alias of aliases) if (/^[GS]\d{4}$/.test(alias)) entry.statedIds.add(alias);
    const usable = [main, ...aliases.map(cleanName).filter(isName)];
    for (const form of usable) addForm(entry, form);
    if (id === undefined) continue;
    byKey.set(id, entry);
    entry.attack ??= { id, name: main, keys: new Set() };
    if (entry.attack.id === id) entry.attack.name = main;
    for (const form of usable) entry.attack.keys.add(nameKey(form));
  }
  return [...new Set(byKey.values())];
}

const newEntry = (kind: NameRecord['kind']): NameEntry => ({
  kind,
  mains: [],
  forms: new Map(),
  statedIds: new Set(),
  attack: undefined,
});

/** Adds a name. The first spelling is kept, unless it is a slug. */
function addForm({ forms }: NameEntry, form: string): void {
  const known = forms.get(nameKey(form));
  if (known === undefined || (isSlug(known) && !isSlug(form))) forms.set(nameKey(form), form);
}

/** Removes names of ATT&CK's entries from others: its main names, then its aliases, then main names of other lists. */
function dropForeignNames(entries: NameEntry[]): void {
  const owners = new Map<string, NameEntry[]>();
  const ofAttack = entries.filter(({ attack }) => attack);
  for (const listKeys of [
    ({ attack }: NameEntry) => [nameKey(attack!.name)],
    ({ attack }: NameEntry) => [...attack!.keys],
    ({ mains }: NameEntry) => mains.map(nameKey),
  ])
    for (const [key, found] of groupByKeys(ofAttack, listKeys)) if (!owners.has(key)) owners.set(key, found);
  for (const entry of entries) {
    const mains = new Set(entry.mains.map(nameKey));
    for (const key of entry.forms.keys())
      if (!mains.has(key) && owners.get(key)?.includes(entry) === false) entry.forms.delete(key);
  }
}

/** Formats the lines of a name table (see `parseNameTable`). `isCueNeeded` overrides the rule for cue marks. */
export function formatNameTable(
  named: NameRecord[],
  isCueNeeded: (key: string) => boolean | undefined = () => undefined,
): string[] {
  const marked = (name: string): string => ((isCueNeeded(nameKey(name)) ?? needsCue(name)) ? `!${name}` : name);
  return named.map(({ kind, name, aliases }) => [kind, marked(name), aliases.map(marked).join('|')].join('\t'));
}

/** A designator of a publisher that has no other name yet: `UNC5221`, `UTA0178`, `Storm-0501`. `APT41` and `FIN7` are names. */
const designator = /^(?!APT|FIN)(\p{L}{2,15}|CL-(?:STA|CRI|UNK))[-_ ]?\d{2,}$/iu;
const seriesOf = (name: string): string | undefined => designator.exec(name)?.[1]?.toUpperCase();

/** Counts the main names of each series of designators. */
function countSeries(mains: string[]): ReadonlyMap<string, number> {
  const keys = new Map<string, Set<string>>();
  for (const name of mains) {
    const series = seriesOf(name);
    if (series) keys.set(series, (keys.get(series) ?? new Set()).add(nameKey(name)));
  }
  return new Map([...keys].map(([series, names]) => [series, names.size]));
}

/** Number of main names from which a series of designators is well known. */
const wellKnownMin = 10;

/** Returns whether a name is a lower-case identifier, as Malpedia has them: `brute_ratel`. */
const isSlug = (name: string): boolean => /^[a-z0-9_]+$/.test(name);

/**
 * Returns the name under which an entry is shown: that of ATT&CK or, without one, a main name. Words precede designators, which precede
 * slugs. Then the main name of most records precedes, then the first. A slug has the spelling of another name with the same letters and
 * digits, or spaces for its underscores. A designator of a series with few main names yields to one of a well-known series among the
 * aliases: UTA0178 to UNC5221.
 */
function canonicalName(entry: NameEntry, series: ReadonlyMap<string, number>): string {
  if (entry.attack) return entry.attack.name;
  const keys = entry.mains.map(nameKey);
  const uses = (name: string): number => keys.filter((key) => key === nameKey(name)).length;
  const rank = (name: string): number => (isSlug(name) ? 2 : seriesOf(name) ? 1 : 0);
  const spelled = entry.mains.map((name) => (isSlug(name) ? entry.forms.get(nameKey(name))! : name));
  const [main] = spelled.toSorted((a, b) => rank(a) - rank(b) || uses(b) - uses(a)) as [string];
  if (isSlug(main)) return main.replaceAll('_', ' ').trim();
  const isWellKnown = (name: string): boolean => (series.get(seriesOf(name) ?? '') ?? 0) >= wellKnownMin;
  if (entry.kind !== 'actor' || !seriesOf(main) || isWellKnown(main)) return main;
  return [...entry.forms.values()].find(isWellKnown) ?? main;
}
