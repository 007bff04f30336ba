import type { FeedItem, Indicator } from '../../../api/feed.ts';
import { findMentions, type Mark } from '../../../lib/passages.ts';
import { findPassage, indicatorsOf, techniqueIdOf } from '../item-fields.ts';
import { listStatements } from './statements.tsx';
import { severityPassages, severitySubject } from './severity-basis.tsx';

/** More indicators or names than this are looked for in the text only when the reader asks for them. */
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

function markIndicator(text: string, { value, normalizedValue }: Indicator): Mark[] {
  const key = `indicator:${normalizedValue}`;
  const mentions = findMentions(text, key, value);
  return mentions.length > 0 || value === normalizedValue ? mentions : findMentions(text, key, normalizedValue);
}

const markName = (text: string, { name, aliases }: Name): Mark[] =>
  [name, ...aliases.slice(0, 10)].flatMap((spelling) => findMentions(text, `name:${name}`, spelling));

/**
 * Where a text states the severity, the advice and the steps of an item, and mentions its techniques and the first of its indicators and names. Keys of the marks are such
 * as `technique:T1059`, `indicator:203.0.113.7` and `name:Quiet Heron`.
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
  const statements = listStatements(item).flatMap(({ subject, passage }) => markPassage(subject, passage));
  return [
    ...severity,
    ...statements,
    ...techniques,
    ...indicatorsOf(item)
      .slice(0, searchedMax)
      .flatMap((indicator) => markIndicator(text, indicator)),
    ...namesOf(item)
      .slice(0, searchedMax)
      .flatMap((name) => markName(text, name)),
  ];
}

/** Where a text mentions an indicator or a name that `markSubjects` left out. `key` is that of its marks. */
export function markOther(item: FeedItem, text: string, key: string): Mark[] {
  const indicator = indicatorsOf(item)
    .slice(searchedMax)
    .find(({ normalizedValue }) => key === `indicator:${normalizedValue}`);
  if (indicator) return markIndicator(text, indicator);
  const other = namesOf(item)
    .slice(searchedMax)
    .find(({ name }) => key === `name:${name}`);
  return other ? markName(text, other) : [];
}
