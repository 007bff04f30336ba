import type { Tlp } from '../model/vocabulary.ts';

/** Returns the TLP marking of a word such as `TLP:WHITE` or `amber_strict`, or undefined. */
export function findTlp(word: string): Tlp | undefined {
  const key = word
    .trim()
    .toUpperCase()
    .replace(/^TLP[:\s-]*/, '')
    .replaceAll(/[_\s-]+/g, '+');
  if (key === 'WHITE') return 'CLEAR';
  return key === 'CLEAR' || key === 'GREEN' || key === 'AMBER' || key === 'AMBER+STRICT' || key === 'RED'
    ? key
    : undefined;
}
