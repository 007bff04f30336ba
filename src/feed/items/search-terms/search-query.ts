import { z } from 'zod';
import { Instant } from '../../../platform/lib/schema-parts.ts';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';
import { indicatorForms } from '../../model/values/indicator-forms.ts';
import { getShippedNames } from '../../extraction/names/dictionary/name-dictionary.ts';
import { findAttackName } from '../../reference-data/attack.ts';
import { nameKey } from '../../reference-data/name-forms.ts';
import { namedVulnerabilities } from '../../reference-data/vulnerability-names.ts';
import { splitPeriod } from './query-fields.ts';
import { listSearchedRuns, toQueryText } from './query-text.ts';
import { readTermFilters, termFields, type TermFilter } from './term-filters.ts';

/** The search parameters of lists. All are optional, and an empty text counts as absent. */
export const searchFields = {
  q: boundedString({ max: 500 })
    .optional()
    .describe(
      'Full-text search in title, summary and text. All words must match, in any grammatical form; words of at least four letters also match longer words that begin with them. Supports `"…"` for a phrase, `OR`, `-word` or `NOT word`, and parentheses; a phrase or an exclusion turns beginnings off. Common abbreviations such as `RCE` also match what they stand for, and names of vulnerabilities such as `Log4Shell` their CVE ids, and the other way round. Behind fewer than five matches follow items that match some of the words, with the warning `partial_search`. `actor:lazarus` and the other filters can be written as `field:value`, and times of publication in words (`last week`, `since march 2024`). Any part of Chinese, Japanese, Korean or Thai text matches. Addresses may be defanged.',
    ),
  ...termFields,
  updatedSince: Instant.optional().describe('Items whose `lastUpdated` is this time or later.'),
  duplicates: z
    .enum(['hide'])
    .optional()
    .describe('Returns only roots. `source`, `cve`, `indicator` and `q` then also match the duplicates of a root.'),
};
/** Parameters of a list that is ordered by its search. */
export const searchOrderFields = {
  searchOrder: z
    .enum(['relevance', 'newest'])
    .optional()
    .describe(
      'Order of a search with `q`. By default the best and most recent matches come first. If more than 500 items match `q`, the newest 500 are ranked (of a frequent text, the newest 200), and the others follow, newest first.',
    ),
  highlight: z
    .enum(['true'])
    .optional()
    .describe('With `q`: `outputs.highlights` says where the items of the page match.'),
};
const SearchQuery = z.object({ ...searchFields, ...searchOrderFields });
type SearchQuery = z.infer<typeof SearchQuery>;

/** Part of a search as text, and how much more a match of it counts than that of another: the fewer items match, the more. */
export type WeighedText = { text: string; weight: number };

/** What an item must match in place of all words: all texts of one of the `groups`, which list them by their places. */
export type PartialMatch = { texts: WeighedText[]; groups: number[][] };

/**
 * `indicatorForms` are the canonical forms of a text that is a single word, and `runs` its runs of characters of scripts without spaces, which match
 * parts of words.
 */
export type FullTextQuery = {
  text: string;
  indicatorForms: string[];
  runs: string[];
  /** Further matches, which come behind those of all words. */
  partial?: PartialMatch;
};

/** With `rootsOnly`, a duplicate may match `terms` and `fullText` for its root. The root itself must match `rootTerms`. */
export type Search = {
  terms: TermFilter[];
  rootTerms: TermFilter[];
  fullText: FullTextQuery | undefined;
  /** Words of the search that say when an item was published, as `readPeriod` reads them. */
  period: string | undefined;
  updatedSince: string | undefined;
  rootsOnly: boolean;
  /** Whether the best matches of the text come first. */
  isRanked: boolean;
  applied: Record<string, string>;
};

/** Throws a 400 that names the parameter if an id has the wrong form. The text has no fields any more (`readFilters`). */
export function readSearch(query: SearchQuery): Search {
  const written = query.q?.trim() || undefined;
  const { text = '', period } = written === undefined ? {} : splitPeriod(written);
  const q = text || undefined;
  const { terms, rootTerms, applied } = readTermFilters(query);
  const updatedSince = query.updatedSince && new Date(query.updatedSince).toISOString();
  const { searchOrder, duplicates } = query;
  const parameters = { q, published: period, ...applied, updatedSince, duplicates, searchOrder };
  return {
    terms,
    rootTerms,
    fullText: q === undefined ? undefined : toFullTextQuery(q),
    period,
    updatedSince,
    rootsOnly: duplicates === 'hide',
    isRanked: q !== undefined && searchOrder !== 'newest',
    applied: Object.fromEntries(
      Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ),
  };
}

export const toFullTextQuery = (q: string): FullTextQuery => ({
  text: toQueryText(addAbbreviations(addAttackNames(addNameForms(q)))),
  indicatorForms: /\s/.test(q) ? [] : indicatorForms(q),
  runs: listSearchedRuns(q),
});

const attackIds = /(?<![\w"-])[GS]\d{4}(?![\w"-])/gi;

/** Adds the name of a group or of software to its ATT&CK id, because most items have one of the two. */
const addAttackNames = (text: string): string =>
  text.includes('"')
    ? text
    : text.replaceAll(attackIds, (id) => {
        const name = findAttackName(id)?.name;
        return name ? `(${id} or "${name}")` : id;
      });

/** Abbreviations of the field with their long forms. Reports print either. */
const longForms: Record<string, string> = {
  '0-day': 'zero day',
  '0day': 'zero day',
  aitm: 'adversary in the middle',
  bec: 'business email compromise',
  byovd: 'bring your own vulnerable driver',
  c2: 'command and control',
  csrf: 'cross site request forgery',
  ddos: 'distributed denial of service',
  dos: 'denial of service',
  edr: 'endpoint detection and response',
  eop: 'elevation of privilege',
  iab: 'initial access broker',
  ics: 'industrial control systems',
  idor: 'insecure direct object reference',
  lpe: 'local privilege escalation',
  maas: 'malware as a service',
  mfa: 'multi factor authentication',
  mitm: 'man in the middle',
  poc: 'proof of concept',
  raas: 'ransomware as a service',
  rat: 'remote access trojan',
  rce: 'remote code execution',
  rdp: 'remote desktop protocol',
  sqli: 'sql injection',
  ssrf: 'server side request forgery',
  uaf: 'use after free',
  xss: 'cross site scripting',
  xxe: 'xml external entity',
};

const shortForms = new Map(Object.entries(longForms).map(([short, long]) => [long, short]));
/** Longer forms come first: `distributed denial of service` before `denial of service`. */
const forms = [...Object.keys(longForms), ...shortForms.keys()].toSorted((a, b) => b.length - a.length);
const anyForm = new RegExp(
  String.raw`(?<![\w"-])(?:${forms.map((form) => form.replaceAll(' ', '[ -]')).join('|')})(?![\w"-])`,
  'gi',
);
/** Each doubles the alternatives of a search, of which there are few. */
const expandedMax = 3;

/**
 * Adds the other form to abbreviations of the field and to their long forms: `rce` becomes `(rce or remote code execution)`. Searches with
 * quotation marks or parentheses remain as they are.
 */
export function addAbbreviations(text: string): string {
  if (/["()]/.test(text)) return text;
  let expanded = 0;
  return text.replaceAll(anyForm, (printed) => {
    const form = printed.toLowerCase();
    const other = longForms[form] ?? shortForms.get(form.replaceAll('-', ' '));
    expanded += 1;
    return other === undefined || expanded > expandedMax ? printed : `(${printed} or ${other})`;
  });
}

const keyOf = (text: string): string => text.toLowerCase().replaceAll(/[\s-]+/g, '');
const byName = new Map(namedVulnerabilities.map((one) => [keyOf(one.name), one]));
const byCve = new Map(namedVulnerabilities.flatMap((one) => one.cves.map((cve) => [cve, one] as const)));
const nameWordsMax = 3;
/** Each multiplies the alternatives of a search, of which there are few. */
const wordsMax = 2;

/**
 * Adds its CVE ids to the name of a vulnerability, and its name to a CVE id, and to names of several words the form without spaces, because reports print
 * either. Searches with quotation marks or parentheses remain as they are.
 */
export function addNameForms(text: string): string {
  if (/["()]/.test(text)) return text;
  const words = text.split(/\s+/).filter(Boolean);
  const terms: string[] = [];
  let expanded = 0;
  for (let at = 0; at < words.length;) {
    const found = expanded < wordsMax ? findAt(words, at) : undefined;
    if (found) expanded += 1;
    terms.push(found?.alternatives ?? words[at]!);
    at += found?.count ?? 1;
  }
  return expanded === 0 ? text : terms.join(' ');
}

/** Finds the longest name that begins with a word, or a CVE id, with what to search for in its place. */
function findAt(words: readonly string[], at: number) {
  for (let count = Math.min(nameWordsMax, words.length - at); count >= 1; count -= 1) {
    const printed = words.slice(at, at + count).join(' ');
    const named = byName.get(keyOf(printed));
    if (named) return { count, alternatives: toAlternatives(named, named.cves) };
    const ofCve = byCve.get(printed.toUpperCase());
    if (ofCve) return { count, alternatives: toAlternatives(ofCve, [printed]) };
    const spaced = findSpacedName(printed);
    if (spaced) return { count, alternatives: toAlternatives(spaced) };
  }
  return undefined;
}

const toAlternatives = ({ name }: { name: string }, cves: readonly string[] = []): string =>
  `(${[`"${name}"`, ...(name.includes(' ') ? [name.replaceAll(' ', '')] : []), ...cves].join(' or ')})`;

/** Returns an actor, malware or tool whose name has several words, together or apart: `Cobalt Strike` for `cobaltstrike`. */
function findSpacedName(printed: string): { name: string } | undefined {
  const name = getShippedNames().get(nameKey(printed))?.printed;
  if (name === undefined) return undefined;
  const spaced = [name, printed].find((form) => form.includes(' '));
  return spaced === undefined || !/^[\p{L}\p{N} ]+$/u.test(spaced) ? undefined : { name: spaced };
}

/** Each alias is one alternative of a search, of which there are few. */
const aliasesMax = 12;

/** Adds the aliases of an actor, malware or tool to its name. Most items have them all, but not those that print a name without more. */
export function addAliases(name: string): string {
  const entities = getShippedNames().get(nameKey(name))?.entities ?? [];
  const names = new Map(
    entities.flatMap((entity) => [entity.name, ...entity.aliases]).map((form) => [nameKey(form), form] as const),
  );
  names.delete(nameKey(name));
  const others = [...names.values()].filter((form) => !form.includes('"')).slice(0, aliasesMax);
  return others.length === 0 ? name : `(${[name, ...others].map((form) => `"${form}"`).join(' or ')})`;
}

/** Returns whether words are one name or one term of the field. */
export const isName = (words: string): boolean =>
  findAt(words.split(' '), 0)?.count === words.split(' ').length || shortForms.has(words.toLowerCase());
