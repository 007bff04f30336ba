import type { FeedItem } from '../model/item.schema.ts';
import { targetRegion, targetSector } from '../model/vocabulary.ts';
import { countryForms, findTargets } from '../model/target-forms.ts';
import { findRegionCountries } from '../model/regions.ts';
import type { Profile } from './profile.schema.ts';

export const reasonKinds = ['product', 'vendor', 'keyword', 'sector', 'region', 'platform'] as const;
type ReasonKind = (typeof reasonKinds)[number];

/** Why an item is relevant to a profile. `evidenceRef` is the passage that contains the words, if any. */
export type ScoreReason = {
  kind: ReasonKind | 'name' | 'technique' | 'value';
  matched: string;
  weight: number;
  evidenceRef?: string;
  /** The requirement that the reason is for. */
  requirement?: string;
};
type RelevanceScore = { score: number; reasons: ScoreReason[] };

/** The fields of an item that the score depends on. */
export type ScoredFields = Pick<
  FeedItem,
  'classification' | 'affectedProducts' | 'provenance' | 'summary' | 'abstract'
> & {
  event: Pick<FeedItem['event'], 'title'>;
};

// At the default threshold, a product, a vendor without a product, or a keyword alone is sufficient, and a sector, region or platform is not.
const weights: Record<ReasonKind, number> = {
  product: 0.8,
  vendor: 0.7,
  keyword: 0.6,
  sector: 0.4,
  region: 0.3,
  platform: 0.25,
};
/** The share of the weight for a name in a text, without an entry in `affectedProducts`. */
const mentionShare = 0.75;
const passingMentionShare = 0.5;
const reasonsMax = 20;

type ProfileLists = Pick<Profile, 'products' | 'platforms' | 'sectors' | 'regions' | 'keywords'>;

/** A profile prepared for scoring many items. */
type ProfileMatcher = {
  profile: ProfileLists;
  products: { vendor: NormalizedWords; product: NormalizedWords | undefined; label: string }[];
  lists: {
    kind: 'keyword' | 'sector' | 'region';
    words: NormalizedWords;
    label: string;
    /** The sectors of STIX or the country codes that the label means. */
    targets: ReadonlySet<string>;
    /** The countries of a region. */
    countries: { name: string; words: NormalizedWords[] }[];
  }[];
};

/** The legal form at the end of a company's name, which lists of products rarely contain. */
const companyForm = /(?<=\S)[\s,]+(?:inc|incorporated|corp|corporation|ltd|limited|llc|gmbh|ag|plc|s\.?a|b\.?v)\.?$/i;

const targetKinds = { sector: 'sector', region: 'country' } as const;

/** Returns the sectors, or the country itself or the countries of a region. */
const listTargets = (kind: 'sector' | 'region', name: string): ReadonlySet<string> =>
  (kind === 'region' ? findRegionCountries(name) : undefined) ?? new Set(findTargets(targetKinds[kind], name));

/** Forms of two letters are words of English as well (`US`). */
const formCharsMin = 3;

function listCountries(region: string): { name: string; words: NormalizedWords[] }[] {
  const codes = findRegionCountries(region);
  return countryForms
    .filter(({ name }) => codes?.has(name))
    .map(({ forms }) => ({
      name: forms[0]!,
      words: forms.filter((form) => form.length >= formCharsMin).map(normalizeWords),
    }));
}

export function createMatcher(profile: ProfileLists): ProfileMatcher {
  const list = (kind: 'keyword' | 'sector' | 'region', entries: string[]): ProfileMatcher['lists'] =>
    entries.map((label) => ({
      kind,
      words: normalizeWords(label),
      label,
      targets: kind === 'keyword' ? new Set<string>() : listTargets(kind, label),
      countries: kind === 'region' ? listCountries(label) : [],
    }));
  return {
    profile,
    products: profile.products.map(({ vendor, product }) => ({
      vendor: normalizeWords(vendor.replace(companyForm, '')),
      product: product === undefined ? undefined : normalizeWords(product),
      label: product === undefined ? vendor : `${vendor} ${product}`,
    })),
    lists: [
      ...list('keyword', profile.keywords),
      ...list('sector', profile.sectors),
      ...list('region', profile.regions),
    ],
  };
}

/**
 * Scores an item against a profile, from 0 to 1 with two decimals. The best match of each kind of reason counts, and the kinds combine as
 * independent evidence (noisy-or): additional reasons never lower a score, and their order does not matter.
 */
export function scoreItem(matcher: ProfileMatcher, item: ScoredFields, texts = toTexts(item)): RelevanceScore {
  const reasons = findReasons(matcher, item, texts);
  const best = new Map<string, number>();
  for (const { kind, weight } of reasons) best.set(kind, Math.max(best.get(kind) ?? 0, weight));
  const missProbability = [...best.values()].reduce((product, weight) => product * (1 - weight), 1);
  return {
    score: Math.round((1 - missProbability) * 100) / 100,
    reasons: reasons.toSorted((a, b) => b.weight - a.weight || compare(a.matched, b.matched)).slice(0, reasonsMax),
  };
}

/** Returns why an item matches the lists of a profile, a reason for each entry that it matches. */
export const findReasons = (matcher: ProfileMatcher, item: ScoredFields, texts: ItemTexts): ScoreReason[] => [
  ...productReasons(matcher, item, texts),
  ...listReasons(matcher, item, texts),
  ...platformReasons(matcher, item),
];

export type ItemTexts = ScoredText[];
type ScoredText = { words: NormalizedWords; evidenceRef?: string };

/** Returns the texts of an item that lists are compared with. */
export function toTexts({ event, summary, abstract, provenance }: ScoredFields): ScoredText[] {
  return [
    ...provenance.supportingPassages.map(({ text }, index) => ({
      words: normalizeWords(text),
      evidenceRef: `provenance.supportingPassages[${index}]`,
    })),
    { words: normalizeWords(event.title) },
    { words: normalizeWords(summary ?? '') },
    { words: normalizeWords(abstract ?? '') },
  ];
}

function productReasons({ products }: ProfileMatcher, item: ScoredFields, texts: ScoredText[]): ScoreReason[] {
  const affected = item.affectedProducts.map((affectedProduct) => ({
    vendor: normalizeWords(affectedProduct.vendor),
    product: normalizeWords(affectedProduct.product),
    confidence: affectedProduct.confidence,
  }));
  const titleWords = normalizeWords(item.event.title);
  return products.flatMap(({ vendor, product, label }): ScoreReason[] => {
    const sameVendor = affected.filter((other) => other.vendor.includes(vendor));
    const matching = product ? sameVendor.filter((other) => other.product.includes(product)) : sameVendor;
    const confidence = Math.max(0, ...matching.map((match) => match.confidence));
    const kind = product ? 'product' : 'vendor';
    if (confidence > 0) return [toReason(kind, { matched: label, share: confidence, texts, words: product ?? vendor })];
    const mentions = texts.filter(({ words }) => words.includes(vendor) && (!product || words.includes(product)));
    if (mentions.length === 0) return [];
    // Many reports mention a vendor in passing, so its name alone is strong evidence only in the title.
    const share = product || titleWords.includes(vendor) ? mentionShare : passingMentionShare;
    return [toReason(kind, { matched: label, share, texts: mentions, words: product ?? vendor })];
  });
}

type ProfileEntry = ProfileMatcher['lists'][number];

/**
 * Finds the keywords, sectors and regions of the profile in the texts, or among the targets that the source states, such as `financial-services`
 * or a MISP galaxy. A region also matches its countries and the regions within it.
 */
function listReasons({ lists }: ProfileMatcher, item: ScoredFields, texts: ScoredText[]): ScoreReason[] {
  const stated = listStatedTargets(item);
  return lists.flatMap((entry) => findMention(entry, texts) ?? findStatedTarget(entry, stated, texts) ?? []);
}

function findMention({ kind, words, label, countries }: ProfileEntry, texts: ScoredText[]): ScoreReason | undefined {
  const isMentioned = (phrase: NormalizedWords): boolean => texts.some((text) => text.words.includes(phrase));
  if (isMentioned(words)) return toReason(kind, { matched: label, share: 1, texts, words });
  for (const { name, words: forms } of countries) {
    const form = forms.find(isMentioned);
    if (form) return toReason(kind, { matched: inRegion(name, label), share: 1, texts, words: form });
  }
  return undefined;
}

const inRegion = (country: string, region: string): string => `${country} (${region})`;

type StatedTarget = { kind: 'sector' | 'region'; name: string; words: NormalizedWords; targets: ReadonlySet<string> };

const listStatedTargets = ({ classification }: ScoredFields): StatedTarget[] =>
  classification.mappings.flatMap(({ framework, id }) => {
    const kind = framework === targetSector ? 'sector' : framework === targetRegion ? 'region' : undefined;
    return kind ? [{ kind, name: id, words: normalizeWords(id), targets: listTargets(kind, id) }] : [];
  });

function findStatedTarget(
  { kind, words, label, targets, countries }: ProfileEntry,
  stated: StatedTarget[],
  texts: ScoredText[],
): ScoreReason | undefined {
  const sameKind = stated.filter((target) => target.kind === kind);
  const isSame = kind === 'region' ? isWithin : overlaps;
  const match =
    sameKind.find((target) => target.words.includes(words)) ??
    sameKind.find((target) => isSame(target.targets, targets));
  if (!match) return undefined;
  const isPart = countries.length > 0 && !match.words.includes(words);
  const matched = isPart ? inRegion(match.name, label) : label;
  return toReason(kind, { matched, share: 1, texts, words: match.words });
}

const overlaps = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean => !a.isDisjointFrom(b);
const isWithin = (part: ReadonlySet<string>, whole: ReadonlySet<string>): boolean =>
  part.size > 0 && part.isSubsetOf(whole);

function platformReasons({ profile }: ProfileMatcher, item: ScoredFields): ScoreReason[] {
  return profile.platforms
    .filter((platform) => item.classification.platforms.includes(platform))
    .map((platform) => ({ kind: 'platform', matched: platform, weight: weights.platform }));
}

/** `share` scales the weight of the kind. */
type Match = { matched: string; share: number; texts: ScoredText[]; words: NormalizedWords };

function toReason(kind: ReasonKind, { matched, share, texts, words }: Match): ScoreReason {
  const passage = texts.find((text) => text.evidenceRef !== undefined && text.words.includes(words));
  return {
    kind,
    matched,
    weight: Math.round(weights[kind] * share * 100) / 100,
    ...(passage?.evidenceRef ? { evidenceRef: passage.evidenceRef } : {}),
  };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The words of a text in lower case, with one space before, between and after them, so that `includes` matches whole words. */
type NormalizedWords = string & { readonly isWords: true };

/** A word consists of letters, digits, combining marks and `+`, `#`, `&` (as in `c++` and `at&t`). Everything else separates words. */
export function normalizeWords(text: string): NormalizedWords {
  const words = text
    .normalize('NFC')
    .toLowerCase()
    .match(/[\p{L}\p{N}\p{M}+#&]+/gu);
  return (words ? ` ${words.join(' ')} ` : ' ') as NormalizedWords;
}
