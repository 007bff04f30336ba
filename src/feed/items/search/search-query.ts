import { z } from 'zod';
import { fieldError } from '../../../platform/lib/errors.ts';
import { Instant } from '../../../platform/lib/instant.ts';
import { text } from '../../../platform/lib/text/bounded-text.ts';
import { indicatorForms, refangWords } from '../../model/indicator-forms.ts';
import { termValue, type TermKind } from '../../model/terms.ts';

/** What is looked for beyond the columns of a list; each optional, an empty text counts as not given. */
export const searchFields = {
  q: text({ max: 500 })
    .optional()
    .describe(
      'Words of title, summary or text, all of them; `"…"` for a phrase, `or`, `-word`. Addresses in any writing.',
    ),
  indicator: text({ max: 2_000 }).optional().describe('An indicator in any writing: defanged, upper case.'),
  cve: text({ max: 50 }).optional().describe('`CVE-2024-12345`.'),
  technique: text({ max: 50 }).optional().describe('An ATT&CK id; a technique finds its sub-techniques too.'),
  actor: text({ max: 200 }).optional().describe('Name or alias, in any case.'),
  updatedSince: Instant.optional().describe('Items whose `lastUpdated` is this or later.'),
  duplicates: z
    .enum(['hide'])
    .optional()
    .describe('Only roots; `source`, `cve`, `indicator` and `q` then look at the duplicates of each too.'),
};
const SearchQuery = z.object(searchFields);

export type TermFilter = { kind: TermKind; values: string[] };

/** `terms` and `words` may be met by a duplicate where only roots are shown; `rootTerms` are the item's own. */
export type Search = {
  terms: TermFilter[];
  rootTerms: TermFilter[];
  words: { text: string; forms: string[] } | undefined;
  updatedSince: string | undefined;
  rootsOnly: boolean;
  applied: Record<string, string>;
};

/** Throws a 400 that names the parameter for one that is not usable. */
export function readSearch(query: z.infer<typeof SearchQuery>): Search {
  const q = textOf(query, 'q');
  const indicator = textOf(query, 'indicator');
  const cve = idOf(query, 'cve', /^CVE-\d{4}-\d{4,19}$/);
  const technique = idOf(query, 'technique', /^T\d{4}(?:\.\d{3})?$/);
  const actor = textOf(query, 'actor');
  const updatedSince = query.updatedSince && new Date(query.updatedSince).toISOString();
  const given = { q, indicator, cve, technique, actor, updatedSince, duplicates: query.duplicates };
  const term = (kind: TermKind, value: string | undefined): TermFilter[] =>
    value === undefined ? [] : [{ kind, values: [termValue(kind, value)] }];
  return {
    terms: [
      ...(indicator === undefined ? [] : [{ kind: 'indicator' as const, values: indicatorForms(indicator) }]),
      ...term('cve', cve),
    ],
    rootTerms: [...term('technique', technique), ...term('actor', actor)],
    words: q === undefined ? undefined : { text: refangWords(q), forms: /\s/.test(q) ? [] : indicatorForms(q) },
    updatedSince,
    rootsOnly: query.duplicates === 'hide',
    applied: Object.fromEntries(
      Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ),
  };
}

type TextField = 'q' | 'indicator' | 'cve' | 'technique' | 'actor';

function textOf(query: z.infer<typeof SearchQuery>, name: TextField): string | undefined {
  return query[name]?.trim() || undefined;
}

function idOf(query: z.infer<typeof SearchQuery>, name: TextField, form: RegExp): string | undefined {
  const id = textOf(query, name)?.toUpperCase();
  if (id !== undefined && !form.test(id))
    throw fieldError(
      `query/${name}`,
      'invalid_format',
      `${name} must have the form of ${name === 'cve' ? 'CVE-2024-12345' : 'T1059 or T1059.001'}.`,
    );
  return id;
}
