import { listNameParts, nameKey } from './name-forms.ts';

/** A name of a list with its aliases. `id` is that of ATT&CK. */
export type NameRecord = {
  kind: 'actor' | 'malware' | 'tool';
  name: string;
  aliases: string[];
  id?: string | undefined;
};

/** The records that are one entity. */
export type NameEntry = {
  kind: NameRecord['kind'];
  /** Main name of each record, in source order. */
  mains: string[];
  /** All names by key. */
  forms: Map<string, string>;
  /** Ids of ATT&CK that lists have as aliases. */
  statedIds: Set<string>;
  /** The id and name of ATT&CK, and the keys of all names that ATT&CK lists. */
  attack: { id: string; name: string; keys: Set<string> } | undefined;
};

/** `merge` merges the second entry into the first, or the first into the second if only that is of ATT&CK or precedes. */
type Join = { merge: (one: NameEntry, other: NameEntry) => void; standingOf: (entry: NameEntry) => NameEntry };

/**
 * Merges entries of several lists that are one entity.
 *
 * 1. ATT&CK lists the main name of an entry as an alias of another one. Of malware and tools, only entries of ATT&CK.
 * 2. An actor of another list has the name or id of an ATT&CK group as an alias. Of several actors that it names, the one with its own name
 *    counts, or that with most names in common.
 * 3. An actor is the only one with the name of another as an alias.
 * 4. Malware and tools name each other, or have different kinds and only one of them has the name of the other.
 */
export function joinEntries(entries: NameEntry[]): NameEntry[] {
  const order = new Map(entries.map((entry, index) => [entry, index]));
  const mergedInto = new Map<NameEntry, NameEntry>();
  const standingOf = (entry: NameEntry): NameEntry => {
    let at = entry;
    while (mergedInto.has(at)) at = mergedInto.get(at)!;
    return at;
  };
  const merge: Join['merge'] = (one, other) => {
    const isFirst = one.attack ? true : other.attack ? false : order.get(one)! < order.get(other)!;
    const [kept, gone] = isFirst ? [one, other] : [other, one];
    absorb(kept, gone);
    mergedInto.set(gone, kept);
  };
  const join = { merge, standingOf };
  const standing = (): NameEntry[] => entries.filter((entry) => !mergedInto.has(entry));
  joinAttackAliases(standing(), join);
  joinGroups(standing().filter(isActor), join);
  // A merge can leave another actor with one holder.
  const actors = (): NameEntry[] => standing().filter(isActor);
  for (let before = Infinity; actors().length < before;) {
    before = actors().length;
    joinSoleHolders(actors(), join);
  }
  joinSoleHolders(
    standing().filter((entry) => !isActor(entry)),
    join,
  );
  return standing();
}

const isActor = ({ kind }: NameEntry): boolean => kind === 'actor';

function absorb(kept: NameEntry, gone: NameEntry): void {
  kept.mains.push(...gone.mains);
  // A name with the number of one publisher is also two names: `海莲花 - APT-C-00`.
  for (const name of [...gone.mains.flatMap(listNameParts), ...gone.forms.values()])
    if (!kept.forms.has(nameKey(name))) kept.forms.set(nameKey(name), name);
  for (const id of gone.statedIds) kept.statedIds.add(id);
  for (const key of gone.attack?.keys ?? []) kept.attack?.keys.add(key);
}

const mainKeys = ({ mains }: NameEntry): string[] => mains.map(nameKey);
const hasStatedId = (entry: NameEntry, { attack }: NameEntry): boolean =>
  attack !== undefined && entry.statedIds.has(attack.id);

/** Counts names in common. A stated id of ATT&CK counts as a name. */
const countShared = (one: NameEntry, other: NameEntry): number =>
  [...one.forms.keys()].filter((key) => other.forms.has(key)).length + Number(hasStatedId(one, other));

/** Returns the entry with most names in common, or undefined if several have as many. */
function findClosest(entry: NameEntry, others: Iterable<NameEntry>): NameEntry | undefined {
  const scored = [...others].map((other) => ({ other, shared: countShared(entry, other) }));
  const [best, next] = scored.toSorted((a, b) => b.shared - a.shared);
  return best && best.shared > (next?.shared ?? 0) ? best.other : undefined;
}

function joinAttackAliases(entries: NameEntry[], { merge, standingOf }: Join): void {
  const listedBy = groupByKeys(entries, ({ attack }) => attack?.keys ?? []);
  // Former groups of ATT&CK first: NOBELIUM is an alias of both APT29 and UNC2452, which is an alias of APT29.
  for (const entry of entries.toSorted((a, b) => Number(!a.attack) - Number(!b.attack))) {
    if (!entry.attack && !isActor(entry)) continue;
    const holders = mainKeys(entry).flatMap((key) => listedBy.get(key) ?? []);
    const others = holders.filter((holder) => isActor(holder) === isActor(entry)).map(standingOf);
    const closest = findClosest(entry, new Set(others.filter((holder) => holder !== entry)));
    if (closest) merge(closest, entry);
  }
}

function joinGroups(actors: NameEntry[], { merge, standingOf }: Join): void {
  const groups = actors.filter(({ attack }) => attack);
  const byMain = groupByKeys(actors, (entry) => (entry.attack ? [nameKey(entry.attack.name)] : mainKeys(entry)));
  for (const entry of actors.filter(({ attack }) => !attack)) {
    const named = new Set([
      ...[...entry.forms.keys()].flatMap((key) => byMain.get(key) ?? []).map(standingOf),
      ...groups.filter((group) => hasStatedId(entry, group)),
    ]);
    named.delete(entry);
    const parts = entry.mains.flatMap(listNameParts).map(nameKey);
    const withName = groups.filter(({ forms }) => parts.some((key) => forms.has(key)));
    const isNumbered = parts.length > entry.mains.length;
    const own = isNumbered ? withName : withName.filter((group) => named.has(group));
    const closest = findClosest(entry, own.length > 0 ? own : named);
    if (closest?.attack) merge(closest, entry);
  }
}

function joinSoleHolders(entries: NameEntry[], { merge, standingOf }: Join): void {
  const holders = groupByKeys(entries, ({ forms }) => forms.keys());
  const groups = new Set(entries.flatMap(({ attack }) => (attack ? [nameKey(attack.name)] : [])));
  // In reverse order, so that the main name of the first source is kept.
  for (const entry of entries.toReversed()) {
    const others = new Set(mainKeys(entry).flatMap((key) => (holders.get(key) ?? []).map(standingOf)));
    others.delete(entry);
    const [other] = others;
    if (others.size !== 1 || other === undefined || standingOf(entry) !== entry) continue;
    if (isActor(entry) ? isSameActor(entry, other, groups) : isSameSoftware(entry, other)) merge(other, entry);
  }
}

/** Number of names in common from which an actor is a group of ATT&CK to which another list, but not ATT&CK, adds its name. */
const sharedMin = 3;

/** Returns whether `holder`, which alone has the name of `entry` as an alias, is the same actor. */
function isSameActor(entry: NameEntry, holder: NameEntry, groups: Set<string>): boolean {
  if (entry.attack) return false;
  // Other lists add names to a group of ATT&CK that are not its own, and join several groups.
  if (holder.attack) return countShared(entry, holder) >= sharedMin;
  return ![...holder.forms.keys()].some((key) => groups.has(key));
}

/** Like `isSameActor`. Malware families differ more finely than actors, so entries of one kind must have each other as an alias. */
const isSameSoftware = (entry: NameEntry, holder: NameEntry): boolean =>
  !(entry.attack && holder.attack) &&
  (entry.kind !== holder.kind || entry.forms.has(nameKey(holder.attack?.name ?? holder.mains[0]!)));

/** Returns the entries by each of their keys. */
export function groupByKeys(
  entries: NameEntry[],
  listKeys: (entry: NameEntry) => Iterable<string>,
): Map<string, NameEntry[]> {
  const found = new Map<string, NameEntry[]>();
  for (const entry of entries)
    for (const key of new Set(listKeys(entry))) {
      const known = found.get(key);
      if (known) known.push(entry);
      else found.set(key, [entry]);
    }
  return found;
}
