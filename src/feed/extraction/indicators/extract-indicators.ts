import { bucketByType, type IndicatorType } from '../../model/vocabulary.ts';
import { refangText, type RefangedText } from '../text/refang-text.ts';
import type { Span } from '../text/stored-text.ts';
import {
  extractUrlHost,
  isPathHosting,
  findShippedBenignReason,
  type BenignLookup,
} from './assessment/benign-values.ts';
import type { IndicatorCandidate } from './indicator-candidate.ts';
import { canonicalize } from './canonicalize.ts';
import { createContextLookup, type ValueContext } from './assessment/value-context.ts';
import { assessCandidate, type CandidateEvidence, type CandidateAssessment } from './assessment/assess-candidate.ts';
import { refineType, extendFileName } from './assessment/refine-type.ts';
import { scanCandidates } from './scan-candidates.ts';

/** An indicator of a text with every place where it stands. */
export type ExtractedIndicator = CandidateAssessment & {
  type: IndicatorType;
  /** As printed where it speaks most for itself. */
  value: string;
  normalizedValue: string;
  /** Spans of the original text (UTF-16 units, end exclusive), the most telling first, at most `spansMax`. */
  spans: Span[];
};
/** What no bucket holds: `observable:<type>`, cve, cwe, capec, attack. */
export type OtherObservable = { framework: string; id: string; confidence: number; spans: Span[] };
export type IndicatorExtraction = { indicators: ExtractedIndicator[]; others: OtherObservable[] };

export type ExtractIndicatorsOptions = {
  /** The publisher's or the source's own hosts: links to them are references. */
  publisherHosts?: string[];
  benign?: BenignLookup;
};

const spansMax = 20;
const hashTypes = new Set(['md5', 'sha1', 'sha256', 'sha512']);

/**
 * Indicators of all classes in a plain text (spec/feed.md, "Extraction"): refanged with an offset map, read in one linear pass, checked by
 * type, weighed by context. A value that is harmless stays, with status `false_positive` and the reason first in `reasons`.
 */
export function extractIndicators(text: string, options: ExtractIndicatorsOptions = {}): IndicatorExtraction {
  const refanged = refangText(text);
  const { clear } = refanged;
  const state: ExtractionState = {
    refanged,
    text,
    options,
    contextOf: createContextLookup(clear),
    defangedInText: 0,
    found: { all: [], byType: new Map() },
    others: new Map(),
  };
  const candidates = scanCandidates(clear);
  for (const candidate of candidates) {
    candidate.defanged = refanged.isDefanged(candidate.start, candidate.end);
    if (candidate.defanged) state.defangedInText += 1;
  }
  for (const [index, candidate] of candidates.entries())
    if (!isAlsoHost(candidate, candidates[index + 1], state)) addCandidate(candidate, state);
  return { indicators: state.found.all, others: [...state.others.values()] };
}

type ExtractionState = {
  refanged: RefangedText;
  text: string;
  options: ExtractIndicatorsOptions;
  contextOf: (start: number, end: number) => ValueContext;
  defangedInText: number;
  found: IndicatorIndex;
  others: Map<string, OtherObservable>;
};

/** A word may be a file or a host; the scan says the file first, and it is one only where the host does not pass. */
function isAlsoHost(file: IndicatorCandidate, next: IndicatorCandidate | undefined, state: ExtractionState): boolean {
  if (file.type !== 'file_name' || next?.type !== 'domain' || next.start !== file.start) return false;
  return (
    assess({ candidate: next, context: state.contextOf(next.start, next.end), type: 'domain', value: '' }, state) !==
    undefined
  );
}

function addCandidate(candidate: IndicatorCandidate, state: ExtractionState): void {
  const { refanged } = state;
  const context = state.contextOf(candidate.start, candidate.end);
  const wide = candidate.type === 'file_name' ? extendFileName(refanged.clear, candidate, context) : candidate;
  const clear = wide.value ?? refanged.clear.slice(wide.start, wide.end);
  const span = refanged.origin(wide.start, wide.end);
  if (isOtherObservable(wide)) {
    addOtherObservable(wide, clear, span, state);
    return;
  }
  const type =
    hashTypes.has(wide.type) || wide.type === 'file_name' || wide.type === 'android_package'
      ? refineType(refanged.clear, wide, context)
      : (wide.type as IndicatorType);
  if (!type) return;
  const normalizedValue = canonicalize(type, clear);
  if (normalizedValue === undefined) return;
  const judgement = assess({ candidate: wide, context, type, value: normalizedValue }, state);
  if (!judgement) return;
  addIndicator(toIndicator(judgement, type, normalizedValue, { span, text: state.text }), state.found);
  if (type === 'url') addUrlHost(normalizedValue, wide, context, state);
}

type AssessmentInput = {
  candidate: IndicatorCandidate;
  context: ValueContext;
  type: IndicatorType;
  value: string;
  url?: string;
};

/** `url`: the address that a host stands in. */
function assess(
  { candidate, context, type, value, url }: AssessmentInput,
  state: ExtractionState,
): CandidateAssessment | undefined {
  const { options } = state;
  const address = type === 'url' ? value : url;
  const benign = findShippedBenignReason(type, value) ?? options.benign?.(type, value);
  return assessCandidate(type, candidate.doubt, {
    context,
    defanged: candidate.defanged,
    defangedInText: state.defangedInText,
    isPublisherHost: isPublisherHost(type, value, options.publisherHosts ?? []),
    page: address && !candidate.defanged && !benign ? classifyPage(address) : undefined,
    benign,
  });
}

function classifyPage(url: string): CandidateEvidence['page'] {
  if (isCodePage(url)) return 'source code on shared hosting';
  return isArticlePage(url) ? 'page of an article' : undefined;
}

/** Whether the last part of the path is a title: four words and more, as blogs name their pages. */
function isArticlePage(url: string): boolean {
  if (!/[-_]/.test(url)) return false;
  const [scheme, , , ...path] = url.replace(/\/$/, '').split('/');
  const words =
    path
      .at(-1)
      ?.replace(/\.html?$/i, '')
      .split(/[-_]/) ?? [];
  return (
    /^https?:$/i.test(scheme!) &&
    words.filter((word) => /^[a-z]/i.test(word)).length >= 3 &&
    words.length >= 4 &&
    words.every((word) => /^(?:[a-z]{1,24}\d{0,2}[a-z]{0,8}|\d{1,20})$/i.test(word))
  );
}

const isCodePage = (url: string): boolean =>
  /^https?:\/\/(?:www\.|gist\.)?(?:github|gitlab|bitbucket)\.\w+\//.test(url) &&
  !/\/raw\/|\/releases\/download\/|\.(?:exe|dll|zip|rar|7z|ps1|bat|apk|elf|bin)$/.test(url);

function isPublisherHost(type: IndicatorType, value: string, publisherHosts: string[]): boolean {
  if (publisherHosts.length === 0 || (type !== 'url' && type !== 'domain')) return false;
  const host = type === 'url' ? extractUrlHost(value) : value;
  return host !== '' && publisherHosts.some((own) => matchesPublisherHost(own, host, value));
}

/** A host of the publisher, or its own folder on a shared one (`github.com/publisher/…`). */
const matchesPublisherHost = (own: string, host: string, value: string): boolean =>
  host === own ||
  host.endsWith(`.${own}`) ||
  (isPathHosting(host) && value.toLowerCase().includes(`${host}/${own.split('.').at(-2) ?? own}/`));

const toIndicator = (
  judgement: CandidateAssessment,
  type: IndicatorType,
  normalizedValue: string,
  { span, text }: Printed,
): ExtractedIndicator => ({
  type,
  value: text.slice(span.start, span.end),
  normalizedValue,
  status: judgement.status,
  confidence: judgement.confidence,
  reasons: judgement.reasons,
  spans: [span],
});
type Printed = { span: Span; text: string };

/** The host of an address is an indicator of its own unless many share it. */
function addUrlHost(url: string, candidate: IndicatorCandidate, context: ValueContext, state: ExtractionState): void {
  const host = extractUrlHost(url);
  if (host === '' || isPathHosting(host)) return;
  const { clear } = state.refanged;
  const printed = clear.slice(candidate.start, candidate.end);
  const at = printed.toLowerCase().indexOf(host.replace(/^\[|\]$/g, ''));
  if (at < 0) return;
  const start = candidate.start + at;
  const end = start + host.replace(/^\[|\]$/g, '').length;
  const type: IndicatorType = host.startsWith('[') ? 'ipv6' : /^[\d.]+$/.test(host) ? 'ipv4' : 'domain';
  const value = canonicalize(type, clear.slice(start, end));
  if (value === undefined) return;
  // Weighed as the address that it stands in, so that a link stays a link.
  const judgement = assess({ candidate, context, type, value, url }, state);
  if (!judgement) return;
  const span = state.refanged.origin(start, end);
  addIndicator(toIndicator(judgement, type, value, { span, text: state.text }), state.found);
}

const isOtherObservable = ({ type }: IndicatorCandidate): boolean => !(type in bucketByType);

function addOtherObservable(
  candidate: IndicatorCandidate,
  clear: string,
  span: Span,
  { others }: ExtractionState,
): void {
  if (candidate.doubt >= 2) return;
  const known = others.get(`${candidate.type} ${clear}`);
  if (known) {
    if (known.spans.length < spansMax) known.spans.push(span);
  } else {
    others.set(`${candidate.type} ${clear}`, { framework: candidate.type, id: clear, confidence: 0.7, spans: [span] });
  }
}

/** In the order of the text, with an index by type and value. */
type IndicatorIndex = { all: ExtractedIndicator[]; byType: Map<IndicatorType, Map<string, ExtractedIndicator>> };

/** One entry for each value; the place that speaks most for it decides. A benign value stays benign wherever it stands. */
function addIndicator(made: ExtractedIndicator, { all, byType }: IndicatorIndex): void {
  let values = byType.get(made.type);
  if (!values) byType.set(made.type, (values = new Map<string, ExtractedIndicator>()));
  const known = values.get(made.normalizedValue);
  if (!known) {
    values.set(made.normalizedValue, made);
    all.push(made);
    return;
  }
  const isBetter = made.confidence > known.confidence;
  if (isBetter) {
    known.status = made.status;
    known.confidence = made.confidence;
    known.reasons = made.reasons;
    known.value = made.value;
  }
  if (isBetter) known.spans = [...made.spans, ...known.spans].slice(0, spansMax);
  else if (known.spans.length < spansMax) known.spans.push(...made.spans);
}
