import { indicatorTypes, isNetworkType } from '../../model/values/indicator-types.ts';
import { isHarmlessRole, type ValueRole } from '../../model/vocabulary.ts';
import type { ExtractedIndicator } from '../indicators/extract-indicators.ts';
import { cue, listRoleStatements, type RoleStatement } from '../lexicon/lexicon.ts';
import { valuesWord } from '../lexicon/phrases.ts';
import { isReportLanguage } from '../lexicon/languages.ts';
import { isDeniedIn, listRolesIn } from '../techniques/technique-statements.ts';
import { isTitleLine, isDenied } from '../techniques/sentence-kinds.ts';
import { lowerBound } from '../indicators/refang-text.ts';
import type { Span } from '../text/stored-text.ts';
import {
  type Claim,
  claimsOf,
  type ClaimOf,
  type KnownValues,
  type Quote,
  type ReadDocument,
  toQuote,
} from './claim.ts';

/** The values at one place of the text: a URL with its host. */
type Place = Span & { indicators: ExtractedIndicator[] };

const quoteMaxChars = 1_000;
const confidence = 0.8;
/** For so many sentences, words such as `them` can mean the values of an earlier one. */
const referenceReach = 2;

/** Claims the roles that sentences and titles of lists give to values: `these addresses belong to our scanner`, `False positives:`. */
export function claimRoles(document: ReadDocument, known: KnownValues): Claim[] {
  if (known.indicators.length === 0) return [];
  const stated = listPlaces(known.indicators.filter(({ type }) => isNetworkType(type) || isDigest(type)));
  return [...claimStatedRoles(document, stated), ...claimListedRoles(document, listPlaces(known.indicators))];
}

const isDigest = (type: ExtractedIndicator['type']): boolean => indicatorTypes[type].digestDigits !== null;

/** Returns the known values after the roles that the text gives them. A harmless role ends a value in its item. */
export function applyRoles(known: KnownValues, claims: readonly Claim[]): KnownValues {
  // The first role of a value counts.
  const roles = new Map(
    claimsOf(claims, 'role')
      .map(({ value, role }) => [value, role] as const)
      .toReversed(),
  );
  if (roles.size === 0) return known;
  return {
    ...known,
    indicators: known.indicators.map((indicator) => {
      const role = roles.get(indicator.normalizedValue);
      if (!role || !isHarmlessRole(role) || indicator.status !== 'active') return indicator;
      const reasons = [`called ${role} in the text`, ...indicator.reasons];
      return { ...indicator, status: 'false_positive', role, confidence: Math.min(0.1, indicator.confidence), reasons };
    }),
  };
}

/** Claims the malware and actors of values where the text has several: the only name of a sentence or row with values, or of the title of a list. */
export function claimFamilies(document: ReadDocument, known: KnownValues, names: readonly ClaimOf<'name'>[]): Claim[] {
  const places = listPlaces(known.indicators.filter(({ status }) => status === 'active'));
  return (['malware', 'actor'] as const).flatMap((kind) => {
    const sorted = sortNames(names, kind);
    if (places.length === 0 || new Set(sorted.names.map(({ value }) => value)).size < 2) return [];
    const claim = (inside: Place[], { value: name, quote: at }: ClaimOf<'name'>, quote: Quote): Claim[] => {
      const printed = document.text.slice(at.start, at.end);
      const values = quote.end - quote.start > quoteMaxChars ? [] : inside.flatMap(({ indicators }) => indicators);
      return values.map(({ normalizedValue: value }) => ({
        field: 'family',
        value,
        kind,
        name,
        printed,
        quote,
        confidence,
      }));
    };
    const inSentences = withInside(document.sentences, places).flatMap(({ span, inside }) => {
      const sole = inside.length > 0 && !cue('negation').test(span.text) ? findSoleName(sorted, span) : undefined;
      return sole ? claim(inside, sole, toQuote(span)) : [];
    });
    const inLists = withTitles(document.article, places).flatMap(({ title, span, inside }) => {
      const sole = findSoleName(sorted, title);
      const isInLine = sorted.starts[lowerBound(sorted.starts, span.start)]! < span.end;
      return sole && !isInLine ? claim(inside, sole, { start: title.start, end: span.end }) : [];
    });
    return [...inSentences, ...inLists];
  });
}

type SortedNames = { names: ClaimOf<'name'>[]; starts: number[] };

/** Returns the names of a list of the item in the order of the text. Tools count as malware. */
function sortNames(claims: readonly ClaimOf<'name'>[], list: 'malware' | 'actor'): SortedNames {
  const names = claims
    .filter(({ kind, quote, ambiguous }) => (kind === 'tool' ? 'malware' : kind) === list && !quote.in && !ambiguous)
    .toSorted((a, b) => a.quote.start - b.quote.start);
  return { names, starts: names.map(({ quote }) => quote.start) };
}

/** Returns the only malware or actor within a span, or the only tool if there is no malware. */
function findSoleName({ names, starts }: SortedNames, { start, end }: Span): ClaimOf<'name'> | undefined {
  const inside: ClaimOf<'name'>[] = [];
  for (let at = lowerBound(starts, start); at < names.length && names[at]!.quote.end <= end; at += 1)
    inside.push(names[at]!);
  const threats = inside.filter(({ kind }) => kind !== 'tool');
  const [first, ...others] = threats.length > 0 ? threats : inside;
  return others.every(({ value }) => value === first!.value) ? first : undefined;
}

/** Returns the places of values in the order of the text. A value within another one shares its place. */
function listPlaces(indicators: ExtractedIndicator[]): Place[] {
  const spans = indicators
    .flatMap((indicator) => indicator.spans.map(({ start, end }) => ({ start, end, indicator })))
    .toSorted((a, b) => a.start - b.start || b.end - a.end);
  const places: Place[] = [];
  for (const { start, end, indicator } of spans) {
    const last = places.at(-1);
    if (last && start < last.end) last.indicators.push(indicator);
    else places.push({ start, end, indicators: [indicator] });
  }
  return places;
}

/** Returns spans in the order of the text with the places inside of each. */
function withInside<S extends Span>(spans: readonly S[], places: readonly Place[]): { span: S; inside: Place[] }[] {
  let next = 0;
  return spans.map((span) => {
    while (next < places.length && places[next]!.start < span.start) next += 1;
    const first = next;
    while (next < places.length && places[next]!.end <= span.end) next += 1;
    return { span, inside: places.slice(first, next) };
  });
}

function claimStatedRoles({ text, sentences, language }: ReadDocument, places: readonly Place[]): Claim[] {
  const claims: Claim[] = [];
  let earlier: { start: number; places: Place[]; left: number } | undefined;
  for (const { span, inside } of withInside(sentences, places)) {
    if (inside.length > 0) earlier = { start: span.start, places: inside, left: referenceReach };
    else if (earlier) earlier = earlier.left > 0 ? { ...earlier, left: earlier.left - 1 } : undefined;
    if (!earlier) continue;
    const masked = inside.length > 0 ? maskValues(text, span, inside) : maskReferences(span.text, earlier.places);
    const quote = { start: earlier.start, end: span.end };
    if (masked.groups.length === 0 || quote.end - quote.start > quoteMaxChars) continue;
    for (const { place, role } of findRoles(masked, language))
      for (const { type, normalizedValue: value } of place.indicators)
        // The exact link to an abused service is the attackers'.
        if (role !== 'abused service' || type === 'domain')
          claims.push({ field: 'role', value, role, quote, confidence });
  }
  return claims;
}

/** A sentence with one word for each list of values, and where these words are. */
type MaskedSentence = { text: string; groups: { at: number; places: Place[] }[] };

const marks = /[()[\]{}<>:"“”„«»`*|]|(?<!\p{L})['’]|['’](?!\p{L})/gu;
const clean = (text: string): string => text.replaceAll(marks, ' ').replaceAll(/\s+/g, ' ');

/** What stands between the values of a list: `, `, ` and the domain `. */
const glue =
  /^[\s"'“”‘’`()[\],;&/*]*(?:(?:and|or|as well as) )?(?:(?:the|its|our) )?(?:(?:ip )?(?:address|domain|host|hostname|server|url|link|hash)(?:es|s)? )?["'“”‘’`([*]*$/i;
const glueMaxChars = 40;

function maskValues(text: string, sentence: Span, inside: readonly Place[]): MaskedSentence {
  const groups: MaskedSentence['groups'] = [];
  let masked = '';
  let from = sentence.start;
  for (const place of inside) {
    const between = text.slice(from, place.start);
    const last = groups.at(-1);
    if (last && between.length <= glueMaxChars && glue.test(between)) last.places.push(place);
    else {
      masked = `${masked} ${clean(between)} `.replaceAll(/ +/g, ' ');
      groups.push({ at: masked.length, places: [place] });
      masked += valuesWord;
    }
    from = place.end;
  }
  return { text: `${masked} ${clean(text.slice(from, sentence.end))}`.replaceAll(/ +/g, ' '), groups };
}

/** Masks the words for the values of an earlier sentence. `it` means the only one. */
function maskReferences(sentence: string, places: Place[]): MaskedSentence {
  const reference = cue(places.length === 1 ? 'references' : 'severalReferences');
  const groups: MaskedSentence['groups'] = [];
  let masked = '';
  let rest = clean(sentence);
  for (let match = reference.exec(rest); match; match = reference.exec(rest)) {
    masked += rest.slice(0, match.index);
    groups.push({ at: masked.length, places });
    masked += valuesWord;
    rest = rest.slice(match.index + match[0].length);
  }
  return { text: masked + rest, groups };
}

let statements: RoleStatement[] | undefined;

function findRoles({ text, groups }: MaskedSentence, language?: string): { place: Place; role: ValueRole }[] {
  statements ??= listRoleStatements();
  const read = (
    { means, pattern, without }: RoleStatement,
    isDeniedMatch: (match: RegExpExecArray) => boolean,
  ): { place: Place; role: ValueRole }[] => {
    const matches = [...text.matchAll(pattern)];
    if (matches.length === 0 || without?.test(text)) return [];
    return matches
      .filter((match) => !isDeniedMatch(match))
      .flatMap((match) =>
        groups
          .filter(({ at }) => at >= match.index && at < match.index + match[0].length)
          .flatMap((group) => group.places.map((place) => ({ place, role: means }))),
      );
  };
  return [
    ...statements.flatMap((one) => read(one, ({ index }) => isDenied(text, { index, length: 0 }))),
    ...(isReportLanguage(language)
      ? listRolesIn(language).flatMap((one) => read(one, (match) => isDeniedIn(language, match)))
      : []),
  ];
}

function claimListedRoles({ article }: ReadDocument, places: readonly Place[]): Claim[] {
  const claims: Claim[] = [];
  for (const { title, span, inside } of withTitles(article, places)) {
    if (!cue('allowListTitle').test(article.slice(title.start, title.end))) continue;
    const whole = { start: title.start, end: span.end };
    const quote = whole.end - whole.start <= quoteMaxChars ? whole : span;
    for (const { indicators } of inside)
      for (const { normalizedValue: value } of indicators)
        claims.push({ field: 'role', value, role: 'legitimate', quote, confidence });
  }
  return claims;
}

const titleMaxChars = 110;
const cells = /\S\s*[|\t]\s*\S/;
/** The beginning of a sentence, which is no entry of a list. */
const proseStart = /^\P{L}*\p{Lu}\p{Ll}*(?: \p{Ll}+){2,} $/u;

/** Returns the lines with values below or behind the title of their list. A list ends with its last line that has a value. */
function withTitles(text: string, places: readonly Place[]): { title: Span; span: Span; inside: Place[] }[] {
  const listed: { title: Span; span: Span; inside: Place[] }[] = [];
  let title: Span | undefined;
  let isNew = false;
  for (const { span, inside } of withInside(listLines(text), places)) {
    const first = inside[0];
    if (!first) {
      const line = text.slice(span.start, Math.min(span.end, span.start + titleMaxChars + 1)).trim();
      // Below a title, a line with cells is the head of its table.
      if (line === '' || (isNew && cells.test(line))) continue;
      isNew = line.length <= titleMaxChars && (line.endsWith(':') || isTitleLine(line));
      title = isNew ? span : undefined;
      continue;
    }
    isNew = false;
    const own = { start: span.start, end: first.start };
    if (proseStart.test(text.slice(own.start, Math.min(own.end, own.start + titleMaxChars)))) {
      title = undefined;
      continue;
    }
    const isOwn =
      own.end - own.start <= titleMaxChars && /\p{L}[^\p{L}]*:\s*["'`(]*$/u.test(text.slice(own.start, own.end));
    if (isOwn) listed.push({ title: own, span, inside });
    else if (title) listed.push({ title, span, inside });
  }
  return listed;
}

function listLines(text: string): Span[] {
  const lines: Span[] = [];
  for (let start = 0; start < text.length;) {
    const next = text.indexOf('\n', start);
    const end = next < 0 ? text.length : next;
    lines.push({ start, end });
    start = end + 1;
  }
  return lines;
}
