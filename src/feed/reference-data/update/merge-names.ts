import { ownValue } from '../../../platform/lib/own-value.ts';
import { cleanName, isName, nameKey, needsCue } from '../name-forms.ts';

export type NameRecord = { kind: 'actor' | 'malware' | 'tool'; name: string; aliases: string[] };
type MergedName = { kind: NameRecord['kind']; name: string; aliases: Map<string, string> };

const kinds: Record<string, NameRecord['kind']> = {
  'threat-actor': 'actor',
  actor: 'actor',
  tool: 'tool',
};

/** What a list says that a name is; families of every kind are malware. */
export const toNameKind = (kind: string): NameRecord['kind'] => ownValue(kinds, kind) ?? 'malware';

const idOf = (kind: NameRecord['kind'], key: string): string => `${kind === 'actor' ? 'actor' : 'software'} ${key}`;

/** One list of the names of several sources, in their order; names of one thing become one entry, under the name of the first source. */
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

/** One entry for two sources' names of the same thing: where just one other entry of the kind has this one's name as an alias. */
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
  // From the last on, so that the source that comes first keeps its name.
  for (const id of order.toReversed()) {
    const others = new Set([...(holders.get(id) ?? [])].map(standing).filter((other) => other !== id));
    const [other] = others;
    if (others.size !== 1 || other === undefined || !entries.has(id)) continue;
    // Families are told apart more finely than actors: there both sides must say it.
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

/** Lines of a table of names: kind, name, aliases joined by `|`; `!` before those that need a cue, as `isPlain` has it or by the rule. */
export function formatNameTable(
  named: NameRecord[],
  isPlain: (key: string) => boolean | undefined = () => undefined,
): string[] {
  const marked = (name: string): string => ((isPlain(nameKey(name)) ?? needsCue(name)) ? `!${name}` : name);
  return named.map(({ kind, name, aliases }) => [kind, marked(name), aliases.map(marked).join('|')].join('\t'));
}
