import { findUnstatedValues } from '../../detection/verdicts/claims/stated-values.ts';
import { normalizeText, containsWhole } from '../../detection/verdicts/claims/known-text.ts';
import type { PromptRepeats } from '../prompt-repeats.ts';
import { splitSentences } from '../sentences.ts';
import { truncateText, escapeInvisible } from '../../platform/lib/text/canonical-text.ts';
import type { RelevanceReason } from '../../feed/model/overrides.schema.ts';
import type { FeedItem } from '../../feed/model/item.schema.ts';
import type { Profile } from '../../feed/relevance/profile.schema.ts';
import type { RelevanceVerdict } from './judgments.store.ts';
import { normalizeWords } from '../../feed/relevance/score.ts';

const passagesMax = 20;
const passageMaxChars = 1_000;
const lineMaxChars = 2_000;
const citedMax = 3;
const reasonMaxChars = 500;

/** The part of an item that a model sees and can cite. */
export type ItemExcerpt = { head: string[]; passages: string[] };

export function excerptItem({ event, summary, abstract, affectedProducts, provenance }: FeedItem): ItemExcerpt {
  const products = affectedProducts.map(({ vendor, product }) => `${vendor} ${product}`);
  return {
    head: [event.title, summary ?? abstract ?? '', `Products: ${products.join('; ')}`].map((line) =>
      truncateText(line, lineMaxChars),
    ),
    passages: provenance.supportingPassages
      .slice(0, passagesMax)
      .map(({ text }) => truncateText(text, passageMaxChars)),
  };
}

export type RelevanceAnswer = { verdict: RelevanceVerdict['verdict']; reason: string; passages: number[] };

/**
 * Returns the verified reasons of a model's answer, one per cited passage. Removes sentences that mention something found neither in the item nor
 * in the profile, and sentences that repeat the prompt. Returns none if a cited passage does not exist, or if a `relevant` verdict mentions nothing from the profile.
 */
export function verifyReasons(
  { verdict, reason, passages }: RelevanceAnswer,
  excerpt: ItemExcerpt,
  { profile, repeats }: { profile: Profile; repeats: PromptRepeats },
): RelevanceReason[] {
  const cited = [...new Set(passages)];
  if (cited.length === 0 || cited.some((n) => excerpt.passages[n] === undefined)) return [];
  const entries = listEntries(profile);
  const texts = [...excerpt.head, ...excerpt.passages, ...entries];
  const known = { text: normalizeText([...texts, commonWords].join('\n')) };
  const sentences = splitSentences(escapeInvisible(reason)).filter(
    (sentence) =>
      !repeats.repeats(sentence) &&
      findUnstatedValues(sentence, { texts, times: [], counts: [] }).length === 0 &&
      findUnknownNames(sentence, known).length === 0,
  );
  if (sentences.length === 0) return [];
  const words = normalizeWords(sentences.join(' '));
  if (verdict === 'relevant' && !entries.some((entry) => words.includes(normalizeWords(entry)))) return [];
  const matched = truncateText(sentences.join(' '), reasonMaxChars);
  return cited
    .slice(0, citedMax)
    .map((n) => ({ kind: 'model', matched, weight: 1, evidenceRef: `provenance.supportingPassages[${n}]` }));
}

const listEntries = ({ products, platforms, sectors, regions, keywords }: Profile): string[] => [
  ...products.flatMap(({ vendor, product }) => (product === undefined ? [vendor] : [vendor, product])),
  ...platforms,
  ...sectors,
  ...regions,
  ...keywords,
];

// Words that can be capitalized without being a name: those that start sentences, and terms for items and organizations.
const commonWords =
  'a advisory all although an and are as attackers at because both but by exploitation for here however in is it its neither no none nor not nothing of on only or our organization ' +
  'organisation item passage product products profile report since some that the their there these they this those though vendor victims vulnerability vulnerabilities what while with';

/** Returns the capitalized words of a sentence that do not occur in the known text. */
function findUnknownNames(sentence: string, known: { text: string }): string[] {
  const words = sentence.match(/[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*/gu) ?? [];
  const isUnknown = (word: string): boolean => /^\p{Lu}/u.test(word) && !containsWhole(known, normalizeText(word));
  return words.filter((word) => isUnknown(word) && word.split('-').some(isUnknown));
}
