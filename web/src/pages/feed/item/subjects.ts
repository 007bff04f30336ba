import type { FeedItem } from '../../../api/feed.ts';
import { findMentions, type Mark } from '../../../lib/passages.ts';
import { findPassage, indicatorsOf, techniqueIdOf } from '../item-fields.ts';
import { severityPassages, severitySubject } from './severity-basis.tsx';

/** More indicators than this are not looked for in the text. */
const searchedMax = 300;

export type Name = { kind: 'actor' | 'malware' | 'product'; name: string; aliases: string[] };

export const namesOf = ({ classification, affectedProducts }: FeedItem): Name[] => [
  ...classification.actor.map(({ name, aliases }) => ({ kind: 'actor' as const, name, aliases })),
  ...classification.malware.map(({ name, aliases }) => ({ kind: 'malware' as const, name, aliases })),
  ...affectedProducts.map(({ vendor, product }) => ({
    kind: 'product' as const,
    name: `${vendor} ${product}`,
    aliases: [product],
  })),
];

/**
 * Where a text states the severity of an item, and mentions its techniques, indicators and names. Keys of the marks are such as `technique:T1059`,
 * `indicator:203.0.113.7` and `name:Quiet Heron`.
 */
export function markSubjects(item: FeedItem, text: string): Mark[] {
  // A passage of another version may lie elsewhere in this text.
  const markPassage = (key: string, passage: ReturnType<typeof findPassage>): Mark[] =>
    passage && text.slice(passage.charSpan.start, passage.charSpan.end) === passage.text
      ? [{ key, ...passage.charSpan }]
      : [];
  const severity = severityPassages(item).flatMap((passage) => markPassage(severitySubject, passage));
  const techniques = item.classification.attack.flatMap((technique) =>
    markPassage(`technique:${techniqueIdOf(technique)}`, findPassage(item, technique.evidenceRef)),
  );
  const indicators = indicatorsOf(item)
    .slice(0, searchedMax)
    .flatMap(({ value, normalizedValue }) => {
      const key = `indicator:${normalizedValue}`;
      const mentions = findMentions(text, key, value);
      return mentions.length > 0 || value === normalizedValue ? mentions : findMentions(text, key, normalizedValue);
    });
  const names = namesOf(item)
    .slice(0, searchedMax)
    .flatMap(({ name, aliases }) =>
      [name, ...aliases.slice(0, 10)].flatMap((spelling) => findMentions(text, `name:${name}`, spelling)),
    );
  return [...severity, ...techniques, ...indicators, ...names];
}
