import { isIP } from 'node:net';
import type { RemoteSiemType } from '../../detection/siem/connectors/registry.ts';
import { listNetworkPrefixes, type SweptDataset, type SweepKind, type SweepTarget } from './sweep-targets.ts';
import { ownsSubdomains } from '../../feed/reference-data/shared-suffixes.ts';

type SweepLanguage = {
  /** Returns the expression of a field as text. `field` is a path of letters, digits, `_`, and dots. */
  text: (field: string) => string;
  /** Returns the condition that the text is one of the values. */
  isIn: (text: string, values: string[]) => string;
  /** Returns the condition that the text matches one of the patterns, which have `*` at their beginning or end. */
  isLike: (text: string, patterns: string[]) => string;
  or: string;
  query: (dataset: string, condition: string) => string;
};

// Values need no escaping: `isPlainValue` rejects quotes and wildcards.
const singleQuoted = (values: string[]): string => values.map((value) => `'${value}'`).join(', ');
const doubleQuoted = (values: string[]): string => values.map((value) => `"${value}"`).join(', ');
const quoteName = (name: string): string => `"${name}"`;
const quotePath = (path: string): string => path.split('.').map(quoteName).join('.');

/** Joins conditions as a balanced tree, because parsers limit the depth of an expression. */
function joinBalanced(conditions: string[], or: string): string {
  if (conditions.length <= 8) return `(${conditions.join(or)})`;
  const half = Math.ceil(conditions.length / 2);
  return `(${joinBalanced(conditions.slice(0, half), or)}${or}${joinBalanced(conditions.slice(half), or)})`;
}

/** Returns one regular expression for all patterns. Sets such as `[.]` need no backslash in any language. */
function toRegex(patterns: string[]): string {
  const parts = patterns.map((pattern) => {
    const inner = pattern.replaceAll('*', '').replaceAll(/[.[\]()+?]/g, (sign) => (sign === '[' ? '[[]' : `[${sign}]`));
    return `${pattern.startsWith('*') ? '' : '^'}${inner}${pattern.endsWith('*') ? '' : '$'}`;
  });
  return parts.join('|');
}

const toLike = (pattern: string): string => pattern.replaceAll('*', '%');

const languages: Record<RemoteSiemType | 'local', SweepLanguage> = {
  // Reading from `_event` returns null for a field that no event in the window has. A missing column would be an error.
  local: {
    text: (field) => `lower(_event->>'$.${field}')`,
    isIn: (text, values) => `${text} IN (${singleQuoted(values)})`,
    isLike: (text, patterns) => `regexp_matches(${text}, '${toRegex(patterns)}')`,
    or: ' OR ',
    query: (dataset, condition) => `SELECT _id, _time, _event FROM ${quoteName(dataset)} WHERE ${condition}`,
  },
  // As text, an `inet` address ends with its mask.
  postgres: {
    text: (field) => `regexp_replace(lower(${quoteName(field)}::text), '/(32|128)$', '')`,
    isIn: (text, values) => `${text} IN (${singleQuoted(values)})`,
    isLike: (text, patterns) => `${text} ~ '${toRegex(patterns)}'`,
    or: ' OR ',
    query: (dataset, condition) => `SELECT * FROM ${quotePath(dataset)} WHERE $window AND (${condition})`,
  },
  clickhouse: {
    text: (field) => `lower(toString(\`${field}\`))`,
    isIn: (text, values) => `${text} IN (${singleQuoted(values)})`,
    isLike: (text, patterns) => `match(${text}, '${toRegex(patterns)}')`,
    or: ' OR ',
    query: (dataset, condition) => `SELECT * FROM \`${dataset}\` WHERE $window AND (${condition})`,
  },
  elasticsearch: {
    text: (field) => `TO_LOWER(TO_STRING(${field}))`,
    isIn: (text, values) => `${text} IN (${doubleQuoted(values)})`,
    isLike: (text, patterns) =>
      joinBalanced(
        patterns.map((pattern) => `${text} LIKE "${pattern}"`),
        ' OR ',
      ),
    or: ' OR ',
    query: (dataset, condition) => `FROM ${dataset} | WHERE ${condition}`,
  },
  opensearch: {
    text: (field) => `lower(cast(\`${field}\` as string))`,
    isIn: (text, values) => `${text} in (${doubleQuoted(values)})`,
    isLike: (text, patterns) =>
      joinBalanced(
        patterns.map((pattern) => `like(${text}, "${toLike(pattern)}")`),
        ' or ',
      ),
    or: ' or ',
    query: (dataset, condition) => `source=${dataset} | where $window and (${condition})`,
  },
  // Splunk compares values case-insensitively.
  splunk: {
    text: (field) => field,
    isIn: (text, values) => `${text} IN (${doubleQuoted(values)})`,
    isLike: (text, patterns) => `${text} IN (${doubleQuoted(patterns)})`,
    or: ' OR ',
    query: (dataset, condition) => `search index=${dataset} (${condition})`,
  },
  sentinel: {
    text: (field) => `tostring(${field})`,
    isIn: (text, values) => `${text} in~ (${doubleQuoted(values)})`,
    isLike: (text, patterns) => `${text} matches regex "(?i)${toRegex(patterns)}"`,
    or: ' or ',
    query: (dataset, condition) => `${dataset} | where $window | where ${condition}`,
  },
};

/** Builds a query for the rows of a dataset that contain one of the terms. Returns undefined if no field fits any of them. */
export function buildSweepQuery(
  kind: RemoteSiemType | 'local',
  { dataset, fields }: SweptDataset,
  terms: SearchTerms,
): string | undefined {
  const { text, isIn, isLike, or, query } = languages[kind];
  const conditions = fields.flatMap((field) => {
    const { values, patterns } = terms[field.kind];
    return [
      ...(values.length === 0 ? [] : [isIn(text(field.name), values)]),
      ...(patterns.length === 0 ? [] : [isLike(text(field.name), patterns)]),
    ];
  });
  return conditions.length === 0 ? undefined : query(dataset, conditions.join(or));
}

/** The terms to search for in fields of one kind: whole values, and patterns with `*` at their beginning, their end, or both. All in lower case. */
type FieldTerms = { values: string[]; patterns: string[] };
type SearchTerms = Record<SweepKind, FieldTerms>;

/** Returns everything that may be a sighting of the targets. Patterns may match more, so each found row has to be verified. */
export function toSearchTerms(targets: SweepTarget[]): SearchTerms {
  const sets = { address: createSets(), domain: createSets(), hash: createSets(), url: createSets() };
  for (const target of targets) addTerms(sets, target);
  const toTerms = ({ values, patterns }: TermSets): FieldTerms => ({ values: [...values], patterns: [...patterns] });
  return {
    address: toTerms(sets.address),
    domain: toTerms(sets.domain),
    hash: toTerms(sets.hash),
    url: toTerms(sets.url),
  };
}

type TermSets = { values: Set<string>; patterns: Set<string> };
const createSets = (): TermSets => ({ values: new Set(), patterns: new Set() });

function addTerms(sets: Record<SweepKind, TermSets>, { kind, type, value, host }: SweepTarget): void {
  if (type === 'cidr') {
    for (const prefix of listNetworkPrefixes(value)) {
      if (isIP(prefix)) sets.address.values.add(prefix);
      else sets.address.patterns.add(`${prefix}*`);
      sets.url.patterns.add(prefix.includes(':') ? `*://[${prefix}*` : `*://${prefix}*`);
    }
    return;
  }
  sets[kind].values.add(value);
  if (kind === 'url' && host !== undefined) sets[isIP(host) ? 'address' : 'domain'].values.add(host);
  if (kind === 'address') sets.url.patterns.add(isIP(value) === 6 ? `*://[${value}]*` : `*://${value}*`);
  if (kind !== 'domain') return;
  sets.url.patterns.add(`*://${value}*`);
  if (!ownsSubdomains(value)) return;
  sets.domain.patterns.add(`*.${value}`);
  sets.url.patterns.add(`*.${value}*`);
}
