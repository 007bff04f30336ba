import { unprovenClaims } from '../../detection/verdicts/verification/claims.ts';
import { knownText, normalText, stands, type Known } from '../../detection/verdicts/verification/known-text.ts';
import { sentencesOf } from '../../detection/verdicts/verification/sentences.ts';
import { cutText, visibleText } from '../../platform/lib/text/canonical-text.ts';
import type { RelevanceReason } from '../../feed/model/overrides.schema.ts';
import type { FeedItem } from '../../feed/model/item.schema.ts';
import type { Profile } from '../../feed/relevance/profile.schema.ts';
import type { Word } from './judgments.store.ts';
import { inWords } from '../../feed/relevance/text-words.ts';

const passagesMax = 20;
const passageMax = 1_000;
const citedMax = 3;
const reasonMax = 500;

/** Of an item, what a model is shown and may cite. */
export type Shown = { head: string[]; passages: string[] };

export function shownOf({ event, summary, abstract, affectedProducts, provenance }: FeedItem): Shown {
  const products = affectedProducts.map(({ vendor, product }) => `${vendor} ${product}`);
  return {
    head: [event.title, summary ?? abstract ?? '', `Products: ${products.join('; ')}`].map((line) =>
      cutText(line, 2_000),
    ),
    passages: provenance.supportingPassages.slice(0, passagesMax).map(({ text }) => cutText(text, passageMax)),
  };
}

export type Answer = { verdict: Word['verdict']; reason: string; passages: number[] };

/**
 * The reasons that are left of a model's answer: none where it cites a passage that is not there. Sentences that name what stands neither in
 * the item nor in the profile are struck, and that an item is relevant needs words of the profile.
 */
export function provenReasons(
  { verdict, reason, passages }: Answer,
  shown: Shown,
  profile: Profile,
): RelevanceReason[] {
  const cited = [...new Set(passages)];
  if (cited.length === 0 || cited.some((n) => shown.passages[n] === undefined)) return [];
  const own = entriesOf(profile);
  const known = knownText([...shown.head, ...shown.passages, ...own, plainWords]);
  const kept = sentencesOf(visibleText(reason)).filter(
    (sentence) => unprovenClaims(sentence, known).length === 0 && unknownNames(sentence, known).length === 0,
  );
  const said = inWords(kept.join(' '));
  if (kept.length === 0 || (verdict === 'relevant' && !own.some((entry) => said.includes(inWords(entry))))) return [];
  const matched = cutText(kept.join(' '), reasonMax);
  return cited
    .slice(0, citedMax)
    .map((n) => ({ kind: 'model', matched, weight: 1, evidenceRef: `provenance.supportingPassages[${n}]` }));
}

const entriesOf = ({ products, platforms, sectors, regions, keywords }: Profile): string[] => [
  ...products.flatMap(({ vendor, product }) => (product === undefined ? [vendor] : [vendor, product])),
  ...platforms,
  ...sectors,
  ...regions,
  ...keywords,
];

// What a sentence may begin with, and what items and organizations are called: no names.
const plainWords =
  'a advisory all although an and are as attackers at because both but by exploitation for here however in is it its neither no none nor not nothing of on only or our organization ' +
  'organisation item passage product products profile report since some that the their there these they this those though vendor victims vulnerability vulnerabilities what while with';

/** Words with a capital that stand nowhere: names of what the item does not speak of. */
function unknownNames(sentence: string, known: Known): string[] {
  const words = sentence.match(/[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*/gu) ?? [];
  const isUnknown = (word: string): boolean => /^\p{Lu}/u.test(word) && !stands(known, normalText(word));
  return words.filter((word) => isUnknown(word) && word.split('-').some(isUnknown));
}
