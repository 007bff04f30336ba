import { extractUrlHost, withoutBrackets } from '../../../platform/lib/outbound-http/addresses.ts';
import { toComparisonForm } from '../../model/values/normalize.ts';
import { nameKey } from '../../reference-data/name-forms.ts';
import { findOwnDomain } from '../../reference-data/shared-suffixes.ts';
import { refangText, type RefangedText } from './refang-text.ts';
import type { Span } from '../text/stored-text.ts';
import { findShippedBenignReason, hasPath, isPathHosting, type BenignLookup } from './assessment/benign-values.ts';
import { type IndicatorCandidate, canonicalize } from './indicator-candidate.ts';
import { createContextLookup, type ValueContext } from './assessment/value-context.ts';
import {
  assessCandidate,
  type CandidateEvidence,
  type CandidateAssessment,
  refineType,
} from './assessment/assess-candidate.ts';
import { findDefangedMention, findHarmlessMention, getHostCue } from './assessment/mention-cues.ts';
import { findImitatedNames } from './assessment/victim-cue.ts';
import { extendFileName } from './assessment/extend-file-name.ts';
import { isLookupPage, isSamplePage } from './readers/urls.ts';
import { scanCandidates } from './scan-candidates.ts';
import {
  indicatorTypes,
  isIndicatorType,
  isNetworkType,
  type IndicatorType,
} from '../../model/values/indicator-types.ts';

export type ExtractedIndicator = CandidateAssessment & {
  type: IndicatorType;
  /** The value as printed at its most convincing occurrence. */
  value: string;
  normalizedValue: string;
  /** Occurrences in the original text (UTF-16 units, end exclusive), the most convincing first, at most `spansMax`. */
  spans: Span[];
};
/** A value of a type without an indicator bucket: `observable:<type>`, cve, cwe, capec, attack. */
export type OtherObservable = { framework: string; id: string; confidence: number; spans: Span[] };
export type IndicatorExtraction = { indicators: ExtractedIndicator[]; others: OtherObservable[] };

export type ExtractIndicatorsOptions = {
  /** The hosts of the publisher or the source. Links to them are references. */
  publisherHosts?: string[];
  /** The name of the publisher. A domain of the same name is the publisher's own. */
  publisher?: string | undefined;
  benign?: BenignLookup;
};

const spansMax = 20;

/**
 * Extracts the indicators of a plain text: refangs the text with an offset map, scans it in one linear pass, validates each candidate by type and
 * scores it by context. Harmless values are kept with status `false_positive` and the deciding reason first in `reasons`.
 */
export function extractIndicators(text: string, options: ExtractIndicatorsOptions = {}): IndicatorExtraction {
  const refanged = refangText(text);
  const { clear } = refanged;
  const state: ExtractionState = {
    refanged,
    text,
    options,
    getContext: createContextLookup(clear),
    defangedInText: 0,
    imitated: findImitatedNames(clear),
    index: { all: [], byType: new Map() },
    others: new Map(),
  };
  const candidates = scanCandidates(clear);
  for (const candidate of candidates) {
    candidate.defanged = refanged.isDefanged(candidate.start, candidate.end);
    if (candidate.defanged) state.defangedInText += 1;
  }
  for (const [index, candidate] of candidates.entries())
    if (!isAlsoHost(candidate, candidates[index + 1], state)) addCandidate(candidate, state);
  excludeLinkedBuckets(state.index);
  return { indicators: state.index.all, others: [...state.others.values()] };
}

type ExtractionState = {
  refanged: RefangedText;
  text: string;
  options: ExtractIndicatorsOptions;
  getContext: (start: number, end: number) => ValueContext;
  defangedInText: number;
  imitated: ReadonlySet<string>;
  index: IndicatorIndex;
  others: Map<string, OtherObservable>;
};

/**
 * Returns whether a file name candidate is also an accepted or a well-known host (`transfer.sh`). The scanner emits the file name first, and
 * the host takes precedence.
 */
function isAlsoHost(file: IndicatorCandidate, next: IndicatorCandidate | undefined, state: ExtractionState): boolean {
  if (file.type !== 'file_name' || next?.type !== 'domain' || next.start !== file.start) return false;
  if (findShippedBenignReason('domain', state.refanged.clear.slice(next.start, next.end).toLowerCase()) !== undefined)
    return true;
  const context = state.getContext(next.start, next.end);
  return assess({ candidate: next, context, type: 'domain', value: '' }, state) !== undefined;
}

function addCandidate(candidate: IndicatorCandidate, state: ExtractionState): void {
  const { refanged } = state;
  const context = state.getContext(candidate.start, candidate.end);
  const extended = candidate.type === 'file_name' ? extendFileName(refanged.clear, candidate, context) : candidate;
  const clear = extended.value ?? refanged.clear.slice(extended.start, extended.end);
  const span = refanged.origin(extended.start, extended.end);
  if (isOtherObservable(extended)) {
    addOtherObservable(extended, clear, span, state);
    return;
  }
  const isDigest = isIndicatorType(extended.type) && indicatorTypes[extended.type].digestDigits !== null;
  const type =
    isDigest || extended.type === 'file_name' || extended.type === 'android_package'
      ? refineType(refanged.clear, extended, context)
      : (extended.type as IndicatorType);
  if (!type) return;
  const normalizedValue = canonicalize(type, clear);
  if (normalizedValue === undefined) return;
  const isAccepted = addIfIndicator({ candidate: extended, context, type, value: normalizedValue }, span, state);
  if (isAccepted && type === 'url') addUrlHost(normalizedValue, extended, context, state);
}

/** `url` is the URL that contains a host candidate. */
type AssessmentInput = {
  candidate: IndicatorCandidate;
  context: ValueContext;
  type: IndicatorType;
  value: string;
  url?: string;
};

function assess(
  input: AssessmentInput,
  { options, defangedInText, refanged, imitated }: ExtractionState,
): CandidateAssessment | undefined {
  const { candidate, context, type, value, url } = input;
  const address = type === 'url' ? value : url;
  const isLive = (isNetworkType(type) || type === 'file_name') && !candidate.defanged;
  const benign = findShippedBenignReason(type, value) ?? options.benign?.(type, value);
  return assessCandidate(type, candidate.doubt, {
    context,
    defanged: candidate.defanged,
    defangedInText,
    isPublisherHost: isPublisherHost(type, value, options),
    isPage: type === 'url' && hasPath(value),
    hostCue: type === 'domain' && candidate.doubt > 0 ? getHostCue(refanged.clear, candidate) : 0,
    findMention: () =>
      isLive
        ? findHarmlessMention(refanged.clear, { ...candidate, type, value, address, context, imitated })
        : findDefangedMention(refanged.clear, { ...candidate, type, context }),
    page: address && !candidate.defanged && !benign ? classifyPage(address) : undefined,
    benign,
  });
}

function classifyPage(url: string): CandidateEvidence['page'] {
  if (isSamplePage(url)) return 'analysis of a sample';
  if (isLookupPage(url)) return 'page about another host';
  if (isCodePage(url)) return 'source code on shared hosting';
  if (!isArticlePage(url)) return undefined;
  return datedPath.test(url) ? 'dated page of an article' : 'page of an article';
}

const datedPath = /\/20\d\d\/(?:0?[1-9]|1[0-2])\/(?!(?:.*\/)?(?:wp-|includes|plugins|themes))/;

/** Returns whether the last path segment is a title of at least four words, which is how blogs name their pages. */
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

/** Returns whether a URL is a page of a repository, or a page with a text on a paste service. Programs request the raw text. */
const isCodePage = (url: string): boolean =>
  /^https?:\/\/(?:(?:www\.|gist\.)?(?:github|gitlab|bitbucket)\.\w+\/|(?:www\.)?pastebin\.com\/(?:u\/)?\w+$)/.test(
    url,
  ) && !/\/raw\/|\/releases\/download\/|\.(?:exe|dll|zip|rar|7z|ps1|bat|apk|elf|bin)$/.test(url);

function isPublisherHost(
  type: IndicatorType,
  value: string,
  { publisherHosts = [], publisher }: ExtractIndicatorsOptions,
): boolean {
  if ((publisherHosts.length === 0 && !publisher) || (type !== 'url' && type !== 'domain')) return false;
  const host = type === 'url' ? extractUrlHost(value) : value;
  if (host === '') return false;
  return (
    publisherHosts.some((publisherHost) => matchesPublisherHost(publisherHost, host, value)) ||
    (publisher !== undefined && isNamedAfter(host, publisher))
  );
}

const namedMinChars = 5;

/** Returns whether the registered domain of a host is a publisher's name: `redcanary.com` for Red Canary. */
function isNamedAfter(host: string, publisher: string): boolean {
  const [label = ''] = findOwnDomain(host)?.split('.') ?? [];
  return label.length >= namedMinChars && nameKey(label) === nameKey(publisher);
}

/** Matches a host of the publisher or its folder on shared hosting (`github.com/publisher/…`). */
const matchesPublisherHost = (publisherHost: string, host: string, value: string): boolean =>
  (!isPathHosting(host) && (host === publisherHost || host.endsWith(`.${publisherHost}`))) ||
  (isPathHosting(host) && value.toLowerCase().includes(`${host}/${publisherHost.split('.').at(-2) ?? publisherHost}/`));

/** Adds the indicator if the assessment accepts it. Returns whether it does. */
function addIfIndicator(input: AssessmentInput, span: Span, state: ExtractionState): boolean {
  const assessment = assess(input, state);
  if (!assessment) return false;
  const value = state.text.slice(span.start, span.end);
  const { type, value: normalizedValue } = input;
  addIndicator({ type, value, normalizedValue, ...assessment, spans: [span] }, state.index);
  return true;
}

/** Adds the host of a URL as a separate indicator unless it is shared hosting. */
function addUrlHost(url: string, candidate: IndicatorCandidate, context: ValueContext, state: ExtractionState): void {
  const host = extractUrlHost(url);
  if (host === '' || isPathHosting(host)) return;
  const { clear } = state.refanged;
  const printed = clear.slice(candidate.start, candidate.end);
  const bareHost = withoutBrackets(host);
  const at = printed.toLowerCase().indexOf(bareHost);
  if (at < 0) return;
  const start = candidate.start + at;
  const end = start + bareHost.length;
  const type: IndicatorType = host.startsWith('[') ? 'ipv6' : /^[\d.]+$/.test(host) ? 'ipv4' : 'domain';
  const value = canonicalize(type, clear.slice(start, end));
  if (value === undefined) return;
  // Assessed in the context of its URL, so that the host of a link counts as a link.
  addIfIndicator({ candidate, context, type, value, url }, state.refanged.origin(start, end), state);
}

const isOtherObservable = ({ type }: IndicatorCandidate): boolean => !isIndicatorType(type);

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

/** Indicators in text order, with an index by type and value. */
type IndicatorIndex = { all: ExtractedIndicator[]; byType: Map<IndicatorType, Map<string, ExtractedIndicator>> };

/** Marks a bucket like the URLs that contain it if all of them are links. */
function excludeLinkedBuckets({ byType }: IndicatorIndex): void {
  for (const bucket of byType.get('bucket')?.values() ?? []) {
    const urls = [...(byType.get('url')?.values() ?? [])].filter(({ spans }) =>
      spans.some((url) => bucket.spans.some(({ start, end }) => url.start <= start && end <= url.end)),
    );
    const link = urls.find(({ status }) => status === 'false_positive');
    if (!link || urls.some(({ status }) => status === 'active')) continue;
    const { status, confidence, reasons, role } = link;
    Object.assign(bucket, { status, confidence, reasons, role });
  }
}

/** Keeps one entry per value. The occurrence with the highest confidence determines status, reasons and printed value. */
function addIndicator(indicator: ExtractedIndicator, { all, byType }: IndicatorIndex): void {
  let values = byType.get(indicator.type);
  if (!values) byType.set(indicator.type, (values = new Map<string, ExtractedIndicator>()));
  const key = toComparisonForm(indicator.normalizedValue);
  const known = values.get(key);
  if (!known) {
    values.set(key, indicator);
    all.push(indicator);
    return;
  }
  const isBetter = indicator.confidence > known.confidence;
  if (isBetter) {
    known.status = indicator.status;
    known.confidence = indicator.confidence;
    known.reasons = indicator.reasons;
    if (indicator.role) known.role = indicator.role;
    else delete known.role;
    known.value = indicator.value;
    known.spans = [...indicator.spans, ...known.spans].slice(0, spansMax);
  } else if (known.spans.length < spansMax) known.spans.push(...indicator.spans);
}
