import { ownValue } from '../../../platform/lib/own-value.ts';
import { cleanName, isName, nameKey, needsCue } from '../name-forms.ts';

export type NameRecord = { kind: 'actor' | 'malware' | 'tool'; name: string; aliases: string[] };
type MergedName = { kind: NameRecord['kind']; name: string; aliases: Map<string, string> };

const kinds: Record<string, NameRecord['kind']> = {
  'threat-actor': 'actor',
  actor: 'actor',
  tool: 'tool',
};

/** Maps the kind that a list states. All malware families are `malware`. */
export const toNameKind = (kind: string): NameRecord['kind'] => ownValue(kinds, kind) ?? 'malware';

const idOf = (kind: NameRecord['kind'], key: string): string => `${kind === 'actor' ? 'actor' : 'software'} ${key}`;

/** Merges the names of several sources in order. Names of the same entity become one entry with the main name of the first source. */
export function mergeNames(named: Iterable<NameRecord>): NameRecord[] {
  const entries = new Map<string, MergedName>();
  for (const { kind, name, aliases } of named) {
    const main = cleanName(name);
    if (!isName(main)) continue;
    const id = idOf(kind, nameKey(main));
    const entry = entries.get(id) ?? { kind, name: main, aliases: new Map<string, string>() };
    entries.set(id, entry);
    for (const alias of aliases.map(cleanName))
      if (isName(alias) && nameKey(alias) !== nameKey(main)) entry.aliases.set(nameKey(alias), alias);
  }
  joinAliases(entries);
  return [...entries.values()].map(({ kind, name, aliases }) => ({ kind, name, aliases: [...aliases.values()] }));
}

/** Merges an entry into another of the same kind if that entry is the only one with its name as an alias. */
function joinAliases(entries: Map<string, MergedName>): void {
  const holders = new Map<string, Set<string>>();
  for (const [id, { kind, aliases }] of entries)
    for (const alias of aliases.keys()) {
      const wanted = idOf(kind, alias);
      holders.set(wanted, (holders.get(wanted) ?? new Set()).add(id));
    }
  const order = [...entries.keys()];
  const place = new Map(order.map((id, index) => [id, index]));
  const movedTo = new Map<string, string>();
  const standing = (id: string): string => {
    let at = id;
    while (movedTo.has(at)) at = movedTo.get(at)!;
    return at;
  };
  // In reverse order, so that the main name of the first source is kept.
  for (const id of order.toReversed()) {
    const others = new Set([...(holders.get(id) ?? [])].map(standing).filter((other) => other !== id));
    const [other] = others;
    if (others.size !== 1 || other === undefined || !entries.has(id)) continue;
    // Malware families differ more finely than actors, so both entries must list each other as an alias.
    const isMutual = entries.get(id)!.aliases.has(nameKey(entries.get(other)!.name));
    if (!id.startsWith('actor') && !isMutual) continue;
    const [into, gone] = place.get(other)! < place.get(id)! ? [other, id] : [id, other];
    absorb(entries.get(into)!, entries.get(gone)!);
    entries.delete(gone);
    movedTo.set(gone, into);
  }
}

function absorb(kept: MergedName, gone: MergedName): void {
  for (const [key, printed] of [[nameKey(gone.name), gone.name] as const, ...gone.aliases])
    if (key !== nameKey(kept.name) && !kept.aliases.has(key)) kept.aliases.set(key, printed);
}

/** Formats the lines of a name table (see `parseNameTable`). `isCueNeeded` overrides the rule for cue marks. */
export function formatNameTable(
  named: NameRecord[],
  isCueNeeded: (key: string) => boolean | undefined = () => undefined,
): string[] {
  const marked = (name: string): string => ((isCueNeeded(nameKey(name)) ?? needsCue(name)) ? `!${name}` : name);
  return named.map(({ kind, name, aliases }) => [kind, marked(name), aliases.map(marked).join('|')].join('\t'));
}
