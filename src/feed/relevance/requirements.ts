import { readTermFilters } from '../items/search-terms/term-filters.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { extractTerms, toTermValue } from '../model/terms.ts';
import type { Requirement } from './profile.schema.ts';
import { createMatcher, findReasons, normalizeWords, type ItemTexts, type ScoreReason } from './score.ts';

/** An item as requirements see it: with its texts, and its terms behind their kinds. */
type MatchedItem = { item: FeedItem; texts: ItemTexts; terms: ReadonlySet<string> };

/** Returns a reason for each entry of a list that an item matches. */
type ListMatcher = (matched: MatchedItem) => ScoreReason[];

/** A requirement prepared for many items, with a matcher for each list that is not empty. */
export type RequirementMatcher = { name: string; lists: ListMatcher[] };

const noLists = { products: [], platforms: [], sectors: [], regions: [], keywords: [] };

export const createRequirementMatchers = (requirements: readonly Requirement[]): RequirementMatcher[] =>
  requirements.map(({ name, names, techniques, values, ...lists }) => {
    const byTerms: TermEntry[][] = [
      techniques.map((label) => toEntry('technique', label, { technique: label })),
      values.map((label) => toEntry('value', label, isCve(label) ? { cve: label } : { indicator: label })),
      names.map((label) => toEntry('name', label, { actor: label, malware: label, tool: label })),
    ];
    const byWords = (['platforms', 'keywords', 'sectors', 'regions', 'products'] as const)
      .filter((list) => lists[list].length > 0)
      .map((list): ListMatcher => {
        const matcher = createMatcher({ ...noLists, [list]: lists[list] });
        return ({ item, texts }) => findReasons(matcher, item, texts);
      });
    // Terms are compared faster than words.
    return { name, lists: [...byTerms.filter((entries) => entries.length > 0).map(matchTerms), ...byWords] };
  });

const isCve = (text: string): boolean => /^CVE-\d{4}-\d{4,19}$/i.test(text);

/** An entry of a requirement, with the terms of which an item must have one. */
type TermEntry = { kind: 'name' | 'technique' | 'value'; label: string; terms: string[] };

function toEntry(kind: TermEntry['kind'], label: string, query: Parameters<typeof readTermFilters>[0]): TermEntry {
  const { terms, rootTerms } = readTermFilters(query);
  const filters = [...terms, ...rootTerms];
  return { kind, label, terms: filters.flatMap((filter) => filter.values.map((value) => `${filter.kind} ${value}`)) };
}

const matchTerms =
  (entries: TermEntry[]): ListMatcher =>
  (matched) =>
    entries
      .filter((entry) => entry.terms.some((term) => matched.terms.has(term)))
      .map((entry) => toReason(entry, matched));

const reasonsMax = 20;

/** Returns the requirements that an item meets, and the reasons: at least one for each list of each of them. */
export function findMetRequirements(
  matchers: readonly RequirementMatcher[],
  item: FeedItem,
  texts: ItemTexts,
): { names: string[]; reasons: ScoreReason[] } {
  if (matchers.length === 0) return { names: [], reasons: [] };
  const terms = new Set(extractTerms(item).map(({ kind, value }) => `${kind} ${value}`));
  const matched = { item, texts, terms };
  const met = matchers.flatMap(({ name, lists }) => {
    const found: ScoreReason[] = [];
    for (const list of lists) {
      const reasons = list(matched);
      if (reasons.length === 0) return [];
      found.push(...reasons.slice(0, reasonsMax));
    }
    return [{ name, reasons: found.map((reason) => ({ ...reason, requirement: name })) }];
  });
  return { names: met.map(({ name }) => name), reasons: met.flatMap(({ reasons }) => reasons) };
}

/** Names the item's own name before the requirement's, as in `Emotet (Geodo)`, and cites a passage that contains a form of it. */
function toReason({ kind, label, terms }: TermEntry, { item: { classification }, texts }: MatchedItem): ScoreReason {
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
