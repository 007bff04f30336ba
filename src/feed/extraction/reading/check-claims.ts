import { findTechnique } from '../../reference-data/attack.ts';
import { nameKey } from '../../reference-data/name-forms.ts';
import { refangText } from '../indicators/refang-text.ts';
import { toComparisonForm } from '../../model/values/normalize.ts';
import type { ExtractedIndicator } from '../indicators/extract-indicators.ts';
import { type Claim, type KnownValues, type Quote, type ReadDocument, textOfQuote } from './claim.ts';

/** Why a claim was dropped. */
export const dropReasons = [
  'quote_not_in_text',
  'value_not_in_quote',
  'value_not_in_text',
  'unknown_technique',
  'stated_more_than_quoted',
] as const;
export type DropReason = (typeof dropReasons)[number];
export type DroppedClaims = Partial<Record<DropReason, number>>;

/** The claims that check out, and how many were dropped for each reason. */
export type CheckedClaims = { claims: Claim[]; dropped: DroppedClaims };

const quoteMaxChars = 1_000;
const sentenceMaxChars = 400;

/**
 * Checks claims of any reader against the text. The quote must stand at its place and contain the value or name in one of its forms. A value
 * must be one that code extracted. A sentence may state no number, name of a host, address or identifier that its quote does not contain.
 */
export function checkClaims(document: ReadDocument, known: KnownValues, claims: readonly Claim[]): CheckedClaims {
  const checked: CheckedClaims = { claims: [], dropped: {} };
  const values = indexValues(known);
  for (const claim of claims) {
    const problem = findProblem(document, values, claim);
    if (!problem) checked.claims.push(claim);
    else checked.dropped[problem] = (checked.dropped[problem] ?? 0) + 1;
  }
  return checked;
}

/** Extracted values by their comparison form. */
type ValueIndex = ReadonlyMap<string, ExtractedIndicator>;

const indexValues = ({ indicators }: KnownValues): ValueIndex =>
  new Map(indicators.map((one) => [toComparisonForm(one.normalizedValue), one] as const).toReversed());

function findProblem(document: ReadDocument, values: ValueIndex, claim: Claim): DropReason | undefined {
  const { quote } = claim;
  const quoted = isPlace(document, quote) ? textOfQuote(document, quote) : '';
  if (quoted.trim() === '' || quoted.length > quoteMaxChars) return 'quote_not_in_text';
  switch (claim.field) {
    case 'name':
      return [claim.value, ...claim.printed].some((form) => containsName(quoted, form))
        ? undefined
        : 'value_not_in_quote';
    case 'product':
      return containsName(quoted, claim.value) ? undefined : 'value_not_in_quote';
    case 'technique':
      return findTechnique(claim.value) ? undefined : 'unknown_technique';
    case 'role':
      return findValueProblem(values, claim.value, quote, quoted);
    case 'family':
      return (
        findValueProblem(values, claim.value, quote, quoted) ??
        (containsName(quoted, claim.printed ?? claim.name) ? undefined : 'value_not_in_quote')
      );
    case 'severity':
    case 'status':
      return undefined;
    case 'title':
      if (quote.in !== 'title') return 'quote_not_in_text';
      return statesOnlyQuoted(claim.value, quoted) ? undefined : 'stated_more_than_quoted';
    case 'advice':
    case 'summary':
    case 'tldr':
    case 'step':
      return statesOnlyQuoted(claim.value, quoted) ? undefined : 'stated_more_than_quoted';
  }
}

const isPlace = ({ text, title }: ReadDocument, { start, end, in: part }: Quote): boolean =>
  Number.isInteger(start) &&
  Number.isInteger(end) &&
  start >= 0 &&
  start < end &&
  end <= (part === 'title' ? title : text).length;

function findValueProblem(
  values: ValueIndex,
  value: string,
  quote: Quote,
  quoted: string,
): 'value_not_in_text' | 'value_not_in_quote' | undefined {
  const known = values.get(toComparisonForm(value));
  if (!known) return 'value_not_in_text';
  const isInside =
    quote.in !== 'title' && known.spans.some(({ start, end }) => quote.start <= start && end <= quote.end);
  const clear = refangText(quoted).clear;
  return isInside || clear.includes(known.normalizedValue) || quoted.includes(known.value)
    ? undefined
    : 'value_not_in_quote';
}

/** Runs of letters and digits: those of scripts with spaces and capitals apart from those of others. */
const words = /[\p{Script=Latin}\p{N}]+|[^\p{Script=Latin}\P{L}]+/gu;
const unspacedWord = /^[^\p{Script=Latin}\P{L}]/u;
const nameWordsMax = 12;

/** Returns whether a text contains a name as whole words, whatever separates them: `APT 28` is APT28, but `Ratatouille` is not Rat. */
export function containsName(text: string, name: string): boolean {
  const key = nameKey(name);
  if (key === '') return text.includes(name.trim()) && name.trim() !== '';
  if (nameKey(text) === key) return true;
  const keys = (text.match(words) ?? []).map(nameKey);
  if (unspacedWord.test(name) && nameKey(text).includes(key)) return true;
  return keys.some((_, from) => {
    let joined = '';
    for (const word of keys.slice(from, from + nameWordsMax)) {
      joined += word;
      if (joined === key) return true;
      if (joined.length >= key.length) return false;
    }
    return false;
  });
}

/** Words that code can compare: with a digit, or with a mark within, such as hosts, paths, addresses and identifiers. */
const comparable = /[^\s,;()"“”‘’]*(?:\p{N}|[\p{L}][./\\@:_][\p{L}])[^\s,;()"“”‘’]*/gu;
/** A number with separators of thousands, which languages write differently: `40,000` is `40.000`. */
const groupedNumbers = /(?<![\w.,])\d{1,3}(?:[.,’]\d{3})+(?![\w.,]*\d)/g;
const listNumbers = (text: string): string[] =>
  (text.match(groupedNumbers) ?? []).map((one) => one.replaceAll(/\D/g, ''));
const ending = /[.:!?'\]]+$/;

function statesOnlyQuoted(sentence: string, quoted: string): boolean {
  if (sentence.trim() === '' || sentence.length > sentenceMaxChars + quoteMaxChars) return false;
  const stated = `${quoted}\n${refangText(quoted).clear}`.toLowerCase().replaceAll(/\s+/g, ' ');
  const numbers = new Set(listNumbers(stated));
  return (sentence.match(comparable) ?? []).every((match) => {
    const word = match.replace(ending, '').toLowerCase();
    return stated.includes(word) || (/^[\d.,’]+$/.test(word) && listNumbers(word).some((one) => numbers.has(one)));
  });
}
