import { nameKey } from '../name-forms.ts';
import type { NameEntry } from './name-entry.ts';

/** A designator of a publisher that has no other name yet: `UNC5221`, `UTA0178`, `Storm-0501`. `APT41` and `FIN7` are names. */
const designator = /^(?!APT|FIN)(\p{L}{2,15}|CL-(?:STA|CRI|UNK))[-_ ]?\d{2,}$/iu;
const seriesOf = (name: string): string | undefined => designator.exec(name)?.[1]?.toUpperCase();

/** Counts the main names of each series of designators. */
export function countSeries(mains: string[]): ReadonlyMap<string, number> {
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
export const isSlug = (name: string): boolean => /^[a-z0-9_]+$/.test(name);

/**
 * Returns the name under which an entry is shown: that of ATT&CK or, without one, a main name. Words precede designators, which precede
 * slugs. Then the main name of most records precedes, then the first. A slug has the spelling of another name with the same letters and
 * digits, or spaces for its underscores. A designator of a series with few main names yields to one of a well-known series among the
 * aliases: UTA0178 to UNC5221.
 */
export function canonicalName(entry: NameEntry, series: ReadonlyMap<string, number>): string {
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
