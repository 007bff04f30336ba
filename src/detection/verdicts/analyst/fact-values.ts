import type { Facts } from '../../analysis/candidate.ts';

/** Returns a number of the facts as text. */
export function readNumber(facts: Facts, name: string): string {
  const value = facts[name];
  return typeof value === 'number' ? String(value) : 'an unknown number';
}

/** Returns a text of the facts, such as a time. */
export function readText(facts: Facts, name: string): string {
  const value = facts[name];
  return typeof value === 'string' ? value : 'an unknown time';
}

export function readList(facts: Facts, name: string): string[] {
  const value = facts[name];
  return Array.isArray(value) ? value.map(String) : [];
}

/** Returns a number of the facts with its noun: `1 row`, `3 rows`. */
export function countOf(facts: Facts, name: string, noun: string): string {
  return `${readNumber(facts, name)} ${noun}${facts[name] === 1 ? '' : 's'}`;
}
