import { inWords, type NormalizedWords } from './text-words.ts';
import type { FeedItem } from '../model/item.schema.ts';
import type { Profile } from './profile.schema.ts';

export const reasonKinds = ['product', 'vendor', 'keyword', 'sector', 'region', 'platform'] as const;
export type ReasonKind = (typeof reasonKinds)[number];

/** Why an item matters to a profile. `evidenceRef` names the passage that holds the words, where one does. */
export type Reason = { kind: ReasonKind; matched: string; weight: number; evidenceRef?: string };
export type Relevance = { score: number; reasons: Reason[] };

/** The fields of an item that relevance is judged by. */
export type Judged = Pick<FeedItem, 'classification' | 'affectedProducts' | 'provenance' | 'summary' | 'abstract'> & {
  event: Pick<FeedItem['event'], 'title'>;
};

// A product or a keyword of one's own is enough by itself at the usual threshold; a platform never is.
const weights: Record<ReasonKind, number> = {
  product: 0.8,
  keyword: 0.6,
  vendor: 0.45,
  sector: 0.4,
  region: 0.3,
  platform: 0.25,
};
const reasonsMax = 20;

/** A profile made ready for many items. */
export type Matcher = {
  profile: Profile;
  products: { vendor: NormalizedWords; product: NormalizedWords | undefined; shown: string }[];
  lists: { kind: 'keyword' | 'sector' | 'region'; words: NormalizedWords; shown: string }[];
};

export function toMatcher(profile: Profile): Matcher {
  const list = (kind: 'keyword' | 'sector' | 'region', given: string[]): Matcher['lists'] =>
    given.map((shown) => ({ kind, words: inWords(shown), shown }));
  return {
    profile,
    products: profile.products.map(({ vendor, product }) => ({
      vendor: inWords(vendor),
      product: product === undefined ? undefined : inWords(product),
      shown: product === undefined ? vendor : `${vendor} ${product}`,
    })),
    lists: [
      ...list('keyword', profile.keywords),
      ...list('sector', profile.sectors),
      ...list('region', profile.regions),
    ],
  };
}

/**
 * How much an item matters to a profile, 0 to 1, two decimals. Of each kind of reason the best match counts, and the kinds are combined as
 * independent evidence (noisy-or): more reasons never lower a score, and their order plays no part.
 */
export function scoreItem(matcher: Matcher, item: Judged): Relevance {
  const texts = textsOf(item);
  const reasons = [
    ...productReasons(matcher, item, texts),
    ...wordReasons(matcher, texts),
    ...platformReasons(matcher, item),
  ];
  const best = new Map<ReasonKind, number>();
  for (const { kind, weight } of reasons) best.set(kind, Math.max(best.get(kind) ?? 0, weight));
  const missed = [...best.values()].reduce((product, weight) => product * (1 - weight), 1);
  return {
    score: Math.round((1 - missed) * 100) / 100,
    reasons: reasons.toSorted((a, b) => b.weight - a.weight || compare(a.matched, b.matched)).slice(0, reasonsMax),
  };
}

type Text = { words: NormalizedWords; evidenceRef?: string };

function textsOf({ event, summary, abstract, provenance }: Judged): Text[] {
  return [
    ...provenance.supportingPassages.map(({ text }, index) => ({
      words: inWords(text),
      evidenceRef: `provenance.supportingPassages[${index}]`,
    })),
    { words: inWords(event.title) },
    { words: inWords(summary ?? '') },
    { words: inWords(abstract ?? '') },
  ];
}

function productReasons({ products }: Matcher, item: Judged, texts: Text[]): Reason[] {
  const affected = item.affectedProducts.map((one) => ({
    vendor: inWords(one.vendor),
    product: inWords(one.product),
    confidence: one.confidence,
  }));
  return products.flatMap(({ vendor, product, shown }): Reason[] => {
    const own = affected.filter((one) => one.vendor.includes(vendor));
    const named = product && own.filter((one) => one.product.includes(product));
    const sure = Math.max(0, ...(named ?? own).map(({ confidence }) => confidence));
    const kind = product ? 'product' : 'vendor';
    if (sure > 0) return [reason(kind, { matched: shown, share: sure, texts, words: product ?? vendor })];
    // Prose that names vendor and product in one breath says the same with less certainty.
    const told = texts.find(({ words }) => words.includes(vendor) && (!product || words.includes(product)));
    return told ? [reason(kind, { matched: shown, share: 0.75, texts: [told], words: product ?? vendor })] : [];
  });
}

function wordReasons({ lists }: Matcher, texts: Text[]): Reason[] {
  return lists
    .filter(({ words }) => texts.some((text) => text.words.includes(words)))
    .map(({ kind, words, shown }) => reason(kind, { matched: shown, share: 1, texts, words }));
}

function platformReasons({ profile }: Matcher, item: Judged): Reason[] {
  return profile.platforms
    .filter((platform) => item.classification.platforms.includes(platform))
    .map((platform) => ({ kind: 'platform', matched: platform, weight: weights.platform }));
}

type Match = { matched: string; share: number; texts: Text[]; words: NormalizedWords };

function reason(kind: ReasonKind, { matched, share, texts, words }: Match): Reason {
  const proof = texts.find((text) => text.evidenceRef !== undefined && text.words.includes(words));
  return {
    kind,
    matched,
    weight: Math.round(weights[kind] * share * 100) / 100,
    ...(proof?.evidenceRef ? { evidenceRef: proof.evidenceRef } : {}),
  };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
