import { z } from 'zod';
import { fieldError } from '../../../platform/lib/errors.ts';
import { Instant } from '../../../platform/lib/schema-parts.ts';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';
import { findAttackName } from '../../reference-data/attack.ts';
import { listCanonicalNames, plainName, resolveName } from '../../extraction/names/dictionary/resolve-name.ts';
import type { NameKind } from '../../extraction/names/dictionary/name-dictionary.ts';
import { indicatorForms } from '../../model/values/indicator-forms.ts';
import { toTermValue, type TermKind } from '../../model/terms.ts';
import { listSearchedRuns, toQueryText } from './query-text.ts';

/** The search parameters of lists. All are optional, and an empty text counts as absent. */
export const searchFields = {
  q: boundedString({ max: 500 })
    .optional()
    .describe(
      'Full-text search in title, summary and text. All words must match, in any grammatical form; words of at least four letters also match longer words that begin with them. Supports `"…"` for a phrase, `OR`, `-word` or `NOT word`, and parentheses; a phrase or an exclusion turns beginnings off. Common abbreviations such as `RCE` also match what they stand for, and the other way round. Any part of Chinese, Japanese, Korean or Thai text matches. Addresses may be defanged.',
    ),
  indicator: boundedString({ max: 2_000 }).optional().describe('An indicator, which may be defanged or in upper case.'),
  cve: boundedString({ max: 50 }).optional().describe('A CVE id, such as `CVE-2024-12345`.'),
  technique: boundedString({ max: 50 })
    .optional()
    .describe('An ATT&CK id. A technique also matches its sub-techniques.'),
  actor: boundedString({ max: 200 })
    .optional()
    .describe('Name, any alias or the ATT&CK id of an actor, in any spelling.'),
  malware: boundedString({ max: 200 })
    .optional()
    .describe('Name, any alias or the ATT&CK id of malware or a tool, in any spelling.'),
  tool: boundedString({ max: 200 }).optional().describe('Name, any alias or the ATT&CK id of a tool, in any spelling.'),
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

export type TermFilter = { kind: TermKind; values: string[] };

/**
 * `indicatorForms` are the canonical forms of a text that is a single word, and `runs` its runs of characters of scripts without spaces, which match
 * parts of words.
 */
export type FullTextQuery = { text: string; indicatorForms: string[]; runs: string[] };

/** With `rootsOnly`, a duplicate may match `terms` and `fullText` for its root. The root itself must match `rootTerms`. */
export type Search = {
  terms: TermFilter[];
  rootTerms: TermFilter[];
  fullText: FullTextQuery | undefined;
  updatedSince: string | undefined;
  rootsOnly: boolean;
  /** Whether the best matches of the text come first. */
  isRanked: boolean;
  applied: Record<string, string>;
};

/** Throws a 400 that names the parameter if an id has the wrong form. */
export function readSearch(query: SearchQuery): Search {
  const q = readText(query, 'q');
  const indicator = readText(query, 'indicator');
  const cve = readId(query, 'cve', { form: /^CVE-\d{4}-\d{4,19}$/, example: 'CVE-2024-12345' });
  const technique = readId(query, 'technique', { form: /^T\d{4}(?:\.\d{3})?$/, example: 'T1059 or T1059.001' });
  const [actor, malware, tool] = [readText(query, 'actor'), readText(query, 'malware'), readText(query, 'tool')];
  const updatedSince = query.updatedSince && new Date(query.updatedSince).toISOString();
  const { searchOrder, duplicates } = query;
  const parameters = { q, indicator, cve, technique, actor, malware, tool, updatedSince, duplicates, searchOrder };
  const toTerms = (kind: TermKind, value: string | undefined): TermFilter[] =>
    value === undefined ? [] : [{ kind, values: [toTermValue(kind, value)] }];
  return {
    terms: [
      ...(indicator === undefined ? [] : [{ kind: 'indicator' as const, values: indicatorForms(indicator) }]),
      ...toTerms('cve', cve),
    ],
    rootTerms: [
      ...toTerms('technique', technique),
      ...toNameTerms('actor', actor),
      ...toNameTerms('malware', malware),
      ...toNameTerms('tool', tool),
    ],
    fullText: q === undefined ? undefined : toFullTextQuery(q),
    updatedSince,
    rootsOnly: duplicates === 'hide',
    isRanked: q !== undefined && searchOrder !== 'newest',
    applied: Object.fromEntries(
      Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ),
  };
}

const toFullTextQuery = (q: string): FullTextQuery => ({
  text: toQueryText(addAbbreviations(addAttackNames(q))),
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

/** Returns the forms of a name: as it is, without what sources add to it, and the canonical names. */
function toNameTerms(kind: NameKind, value: string | undefined): TermFilter[] {
  if (value === undefined) return [];
  const forms = [value, plainName(value), ...listCanonicalNames(kind, value)];
  // Malware that a source calls a tool is listed as malware, and tools are terms of both kinds.
  const listed = kind === 'tool' && resolveName(kind, value)?.kind === 'malware' ? 'malware' : kind;
  return [{ kind: listed, values: [...new Set(forms.map((form) => toTermValue(listed, form)))] }];
}

type TextParameter = 'q' | 'indicator' | 'cve' | 'technique' | 'actor' | 'malware' | 'tool';

function readText(query: SearchQuery, name: TextParameter): string | undefined {
  return query[name]?.trim() || undefined;
}

function readId(
  query: SearchQuery,
  name: TextParameter,
  { form, example }: { form: RegExp; example: string },
): string | undefined {
  const id = readText(query, name)?.toUpperCase();
  if (id !== undefined && !form.test(id))
    throw fieldError(`query/${name}`, 'invalid_format', `\`${name}\` must look like ${example}.`);
  return id;
}

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
