import { readTermFilters } from '../items/search-terms/term-filters.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { extractTerms, toTermValue } from '../model/terms.ts';
import type { Requirement } from './profile.schema.ts';
import { createMatcher, findReasons, normalizeWords, toTexts, type ItemTexts, type ScoreReason } from './score.ts';

/** A criterion of a requirement by the terms of items: a name, a technique or a value, with the terms of which an item must have one. */
type TermCriterion = { kind: 'name' | 'technique' | 'value'; label: string; terms: string[] };

/** A requirement prepared for many items. `kinds` are its criteria, of each of which an item must meet one entry. */
export type RequirementMatcher = {
  name: string;
  kinds: Set<string>;
  lists: ReturnType<typeof createMatcher>;
  terms: TermCriterion[];
};

export const createRequirementMatchers = (requirements: readonly Requirement[]): RequirementMatcher[] =>
  requirements.map(({ name, names, techniques, values, ...lists }) => {
    const terms = [
      ...names.map((label) => toCriterion('name', label, { actor: label, malware: label, tool: label })),
      ...techniques.map((label) => toCriterion('technique', label, { technique: label })),
      ...values.map((label) => toCriterion('value', label, isCve(label) ? { cve: label } : { indicator: label })),
    ];
    const { products, platforms, sectors, regions, keywords } = lists;
    const kinds = [
      ...(products.length > 0 ? ['product'] : []),
      ...(platforms.length > 0 ? ['platform'] : []),
      ...(sectors.length > 0 ? ['sector'] : []),
      ...(regions.length > 0 ? ['region'] : []),
      ...(keywords.length > 0 ? ['keyword'] : []),
      ...terms.map(({ kind }) => kind),
    ];
    return { name, kinds: new Set(kinds), lists: createMatcher(lists), terms };
  });

const isCve = (text: string): boolean => /^CVE-\d{4}-\d{4,19}$/i.test(text);

function toCriterion(
  kind: TermCriterion['kind'],
  label: string,
  query: Parameters<typeof readTermFilters>[0],
): TermCriterion {
  const { terms, rootTerms } = readTermFilters(query);
  const filters = [...terms, ...rootTerms];
  return { kind, label, terms: filters.flatMap((filter) => filter.values.map((value) => `${filter.kind} ${value}`)) };
}

/** Returns the requirements that an item meets, and the reasons: at least one for each criterion of each of them. */
export function findMetRequirements(
  matchers: readonly RequirementMatcher[],
  item: FeedItem,
): { names: string[]; reasons: ScoreReason[] } {
  if (matchers.length === 0) return { names: [], reasons: [] };
  const texts = toTexts(item);
  const hasTerms = matchers.some(({ terms }) => terms.length > 0);
  const itemTerms = new Set(hasTerms ? extractTerms(item).map(({ kind, value }) => `${kind} ${value}`) : []);
  const met = matchers.flatMap(({ name, kinds, lists, terms }) => {
    const reasons = [
      ...findReasons(lists, item, texts),
      ...terms
        .filter((criterion) => criterion.terms.some((term) => itemTerms.has(term)))
        .map((criterion) => toReason(criterion, item, texts)),
    ];
    const found = new Set<string>(reasons.map(({ kind }) => (kind === 'vendor' ? 'product' : kind)));
    if (!kinds.isSubsetOf(found)) return [];
    return [{ name, reasons: reasons.slice(0, reasonsMax).map((reason) => ({ ...reason, requirement: name })) }];
  });
  return { names: met.map(({ name }) => name), reasons: met.flatMap(({ reasons }) => reasons) };
}

const reasonsMax = 20;

/** Names the item's own name before the requirement's, as in `Emotet (Geodo)`, and cites a passage that contains a form of it. */
function toReason({ kind, label, terms }: TermCriterion, { classification }: FeedItem, texts: ItemTexts): ScoreReason {
  const isOne = (name: string): boolean => terms.includes(`actor ${toTermValue('actor', name)}`);
  const threats = kind === 'name' ? [...classification.actor, ...classification.malware] : [];
  const threat = threats.find(({ name, aliases }) => [name, ...aliases].some(isOne));
  const forms = [label, ...(threat ? [threat.name, ...threat.aliases] : [])].map(normalizeWords);
  const technique = classification.attack.find(({ subTechnique, technique: parent }) =>
    [subTechnique, parent].includes(label.toUpperCase()),
  );
  const evidenceRef =
    kind === 'technique'
      ? technique?.evidenceRef
      : texts.find((text) => text.evidenceRef !== undefined && forms.some((form) => text.words.includes(form)))
          ?.evidenceRef;
  const matched = threat && threat.name.toLowerCase() !== label.toLowerCase() ? `${threat.name} (${label})` : label;
  return { kind, matched, weight: 1, ...(evidenceRef === undefined ? {} : { evidenceRef }) };
}
