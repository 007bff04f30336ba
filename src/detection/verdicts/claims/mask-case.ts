import { isIP } from 'node:net';
import type { Candidate, Facts, RenderedRow } from '../../analysis/candidate.ts';
import type { Observation } from '../observation.ts';
import type { CaseFile } from './case-file.ts';

/** What a masked case keeps: values that many others had for long, and what a detection or an indicator looks for inside of others. */
export type MaskRules = {
  isEstablished: (cell: { field: string; value: string }) => boolean;
  /** Literal texts that detections, Sigma rules and indicators look for, in lower case. */
  lookedFor: readonly string[];
  /** Names of fields that the detection's query uses, in lower case. Any other name is treated like a value. */
  knownFields: ReadonlySet<string>;
};

export type MaskedCase = Pick<Candidate, 'entity' | 'entityType' | 'kind' | 'severity' | 'facts' | 'rows'> & {
  observations: Pick<Observation, 'id' | 'tool' | 'rows' | 'total'>[];
};

const observedRowsMax = 10;

/**
 * Returns a case without what an attacker could have written: each value that is not established is replaced by its kind, as in
 * `<text of 57 characters>`. It does not matter what a value says, nor in which language, only who else has it.
 */
export function maskCase({ candidate, facts, observations }: CaseFile, rules: MaskRules): MaskedCase {
  const { entityType, kind, severity } = candidate;
  const fieldNames = new Map<string, string>();
  const noteOf = createNotes(candidate);
  const maskRow = ({ time, fields }: RenderedRow, index: number): RenderedRow => ({
    rowId: `row ${index + 1}`,
    time,
    fields: Object.fromEntries(
      Object.entries(fields).map(([field, value]) => [
        maskField(field, rules, fieldNames),
        maskValue(field, value, rules, noteOf(value)),
      ]),
    ),
  });
  const cells = candidate.rows.flatMap(({ fields }) => Object.entries(fields));
  const outside = cells.flatMap(([field, value]) => [
    ...(rules.knownFields.has(field.toLowerCase()) ? [] : [field]),
    ...(rules.isEstablished({ field, value }) ? [] : [value]),
  ]);
  return {
    entity: describeKind(candidate.entity, noteOf(candidate.entity)),
    entityType,
    kind,
    severity,
    facts: maskFacts(facts, [candidate.entity, ...outside]),
    rows: candidate.rows.map(maskRow),
    observations: observations.map(({ id, tool, rows, total }) => ({
      id,
      tool,
      total,
      rows: rows.slice(0, observedRowsMax).map(maskRow),
    })),
  };
}

function maskField(field: string, { knownFields }: MaskRules, names: Map<string, string>): string {
  if (knownFields.has(field.toLowerCase())) return field;
  if (!names.has(field)) names.set(field, `field ${names.size + 1}`);
  return names.get(field)!;
}

function maskValue(field: string, value: string, { isEstablished, lookedFor }: MaskRules, note: string): string {
  if (isEstablished({ field, value })) return value;
  const lower = value.toLowerCase();
  const marks = lookedFor.flatMap((text) => {
    const found: [number, number][] = [];
    for (let at = lower.indexOf(text); at !== -1; at = lower.indexOf(text, at + text.length))
      found.push([at, at + text.length]);
    return found;
  });
  if (marks.length === 0) return describeKind(value, note);
  let masked = '';
  let from = 0;
  for (const [start, end] of marks.toSorted(([a], [b]) => a - b)) {
    if (end <= from) continue;
    if (start > from) masked += maskPart(value.slice(from, start));
    masked += value.slice(Math.max(start, from), end);
    from = end;
  }
  return from < value.length ? masked + maskPart(value.slice(from)) : masked;
}

/** Text between the parts that are kept. Whitespace and marks alone are kept as they are. */
const maskPart = (text: string): string => {
  if (!/[\p{L}\p{N}]/u.test(text)) return text;
  const [, before, inner, after] = /^(\s*)([\s\S]*?)(\s*)$/.exec(text)!;
  return `${before}<text of ${inner!.length} characters>${after}`;
};

const word = /[\p{L}\p{N}]{3,}/gu;
const listWords = (text: string): string[] => text.normalize('NFKC').toLowerCase().match(word) ?? [];
const ownFact = /^(?:T\d{4}(?:\.\d{3})?|none|low|medium|high|critical)$/;

/** Facts are computed, except for texts that repeat values of the rows, whole or cut. Such a text has a word that begins one of theirs. */
function maskFacts(facts: Facts, texts: readonly string[]): Facts {
  const words = `\n${[...new Set(texts.flatMap(listWords))].join('\n')}`;
  const isOwn = (fact: string): boolean =>
    ownFact.test(fact) || listWords(fact).every((one) => !words.includes(`\n${one}`));
  const mask = (fact: string): string => (isOwn(fact) ? fact : describeKind(fact));
  return Object.fromEntries(
    Object.entries(facts).map(([name, fact]): [string, Facts[string]] => [
      name,
      typeof fact === 'string' ? mask(fact) : isTexts(fact) ? fact.map(mask) : fact,
    ]),
  );
}

const isTexts = (fact: Facts[string]): fact is string[] =>
  Array.isArray(fact) && fact.every((item) => typeof item === 'string');

const dayMs = 86_400_000;

/**
 * Returns a function that returns what the facts know of when a value was first seen: the entity of a category with history, and what is new for it.
 * Empty for any other value.
 */
function createNotes({ entity, facts }: Candidate): (value: string) => string {
  const { firstSeen, windowFrom, windowTo } = facts;
  const days = Math.floor((Date.parse(String(windowTo)) - Date.parse(String(firstSeen ?? windowFrom))) / dayMs);
  const age = days >= 1 ? `first seen ${days} ${days === 1 ? 'day' : 'days'} before` : 'first seen today';
  const entityNote = firstSeen === undefined || Number.isNaN(days) ? '' : `, ${age}`;
  const news = isTexts(facts['newValues'] ?? null) ? (facts['newValues'] as string[]).join('\n') : '';
  return (value) => {
    if (value === entity) return entityNote;
    return value !== '' && news.includes(`=${value}`) ? ', new for the entity' : '';
  };
}

/** Returns the kind of a value with a note: an address, a hash, a link, a number, or a text with its length. Times are kept. */
function describeKind(value: string, note = ''): string {
  if (value === '' || /^(?:true|false|null)$/i.test(value)) return value;
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(value) && value.length <= 30) return value;
  return `<${nameKind(value)}${note}>`;
}

function nameKind(value: string): string {
  if (isIP(value) !== 0) return isInternalAddress(value) ? 'address, internal' : 'address, external';
  if (/^-?\d+(?:\.\d+)?$/.test(value)) return 'number';
  if (/^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})$/i.test(value)) return 'hash';
  if (/^https?:\/\/\S+$/i.test(value)) return 'link';
  return `text of ${value.length} characters`;
}

/** Private, loopback and link-local addresses (RFC 1918, RFC 4193, RFC 3927, RFC 4291). */
export const isInternalAddress = (address: string): boolean =>
  /^(?:10\.|127\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.)|^(?:::1$|f[cd]|fe[89ab])/i.test(address);

const singleQuoted = /'((?:[^']|'')*)'/g;
const doubleQuoted = /"((?:[^"\\]|\\.)*)"/g;
const literalMin = 3;

/**
 * Lists the literal texts of a query in lower case: what it looks for inside of values, without wildcards, and the fixed parts of regular expressions.
 * In a language with texts in single quotes, double quotes are those of names.
 */
export function listLiterals(query: string): string[] {
  const single = [...query.matchAll(singleQuoted)].map(([, text]) => text!.replaceAll("''", "'"));
  const texts = single.length > 0 ? single : [...query.matchAll(doubleQuoted)].map(([, text]) => text!);
  const parts = texts.flatMap((text) => [...text.split(/[%*]+/), ...listFixedParts(text)]);
  return [...new Set(parts.map((part) => part.toLowerCase()))].filter((part) => part.trim().length >= literalMin);
}

/** An escaped mark, and then what ends a fixed part: classes, groups, anchors and wildcards. A quantifier also takes back the character before it. */
const patternToken =
  /\\([^a-z0-9])|(\\[a-z0-9]|\[(?:\\.|[^\]\\])*\]|\(\?[a-z]*[:)]?|[|()^$.%])|([*?]|\{\d+,?\d*\})|(\+)|([^])/gi;

/** Returns the fixed parts of a text, if it is a regular expression or a pattern with escaped marks. */
function listFixedParts(text: string): string[] {
  if (!/[\\|^$[(+?]/.test(text)) return [];
  const parts = [''];
  for (const [, escaped, separator, optional, repeated, plain] of text.matchAll(patternToken)) {
    if (optional !== undefined) parts.push(parts.pop()!.slice(0, -1), '');
    else if (separator !== undefined || repeated !== undefined) parts.push('');
    else parts.push(`${parts.pop()!}${escaped ?? plain ?? ''}`);
  }
  return parts;
}

/** Returns the names in a query in lower case, which include those of its fields. */
export const listFieldNames = (query: string): Set<string> =>
  new Set(query.toLowerCase().match(/[a-z_@$][\w.@$-]*/g) ?? []);
