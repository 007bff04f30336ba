import { toPublisherHost, emptyIocs } from '../model/source-record.ts';
import { ttlDays } from '../model/expiry.ts';
import type { AffectedProduct, Classification, Iocs } from '../model/item.schema.ts';
import { type Severity } from '../model/vocabulary.ts';
import { findOwnDomain } from '../reference-data/shared-suffixes.ts';
import { buildAttackPath, toAttackEntry } from './classification-builder.ts';
import { classifyReport, type ExtractedFacts } from './classify-report.ts';
import type { BenignLookup } from './indicators/assessment/benign-values.ts';
import { extractIndicators, type ExtractedIndicator } from './indicators/extract-indicators.ts';
import { compactText } from './text/compact-text.ts';
import { detectLanguage } from './text/article/detect-language.ts';
import type { NameDictionary } from './names/dictionary/name-dictionary.ts';
import { extractNames } from './names/extract-names.ts';
import { createPassageCollector } from './text/passage-collector.ts';
import { extractProducts, type ExtractedProduct } from './products/extract-products.ts';
import type { CatalogProduct } from './products/shipped-products.ts';
import { rateReport } from './severity/rate-report.ts';
import { findPublisher, findPublishTime } from './text/article/report-origin.ts';
import { findArticleEnd } from './text/article/article-end.ts';
import type { Span } from './text/stored-text.ts';
import { toStorableText } from '../../platform/lib/text/storable-text.ts';
import { summarize, type TextSummary } from './text/article/summarize.ts';
import { extractTechniques } from './techniques/extract-techniques.ts';
import { findSentences, type Sentence } from './text/sentence-spans.ts';
import { indicatorTypes } from '../model/values/indicator-types.ts';

export type ReportText = {
  text: string;
  title?: string | undefined;
  publisher?: string | undefined;
  publishTime?: string | undefined;
  sourceUrl?: string | undefined;
  /** The publisher's own hosts, in addition to the host of `sourceUrl`. */
  publisherHosts?: string[];
  products?: CatalogProduct[];
};

/** Installed lists: harmless values in addition to the shipped ones, and names instead of the shipped ones. */
export type ReferenceLists = { benign?: BenignLookup | undefined; names?: NameDictionary | undefined };

/** The fields of a source record that the text of a report determines. */
export type ExtractedItem = {
  title: string;
  /** The publisher and the publish time, as given or as the address and the opening lines state them. */
  publisher?: string;
  publishTime?: string;
  language?: string;
  severity: Severity;
  severityRule: string;
  /** References to the passages that decided the severity. */
  severityEvidence: string[];
  summary?: string;
  tldr?: string;
  attackPath: string[];
  classification: Classification;
  affectedProducts: AffectedProduct[];
  iocs: Iocs;
  /** The indicators with reasons and spans, to explain each decision. */
  indicators: ExtractedIndicator[];
  storedText: string;
  passages: Span[];
};

const titleMaxChars = 300;
const headlineMaxChars = 150;
const attackPathMinConfidence = 0.6;

/**
 * Extracts an item from the text of a report without a language model: indicators, techniques with their supporting passages, names, platforms,
 * products, severity by rules with their passages, and an extractive summary. The text is data: it cannot set a field.
 */
export function extractItem(report: ReportText, lists: ReferenceLists = {}): ExtractedItem {
  const text = prepareText(report);
  const facts = extractFacts(report, text, lists);
  const { summary, tldr } = summarizeReport(text, facts);
  const { severity, rule, evidence } = rateReport({
    title: text.title,
    text: text.article,
    sentences: text.sentences,
    names: facts.names,
    indicators: facts.indicators.filter(({ status }) => status === 'active').length,
    publishTime: text.publishTime,
    language: text.language,
    sourceUrl: report.sourceUrl,
  });
  const { attack, severityEvidence, passages } = collectEvidence(text, facts, { summary, severity: evidence });
  const iocs = groupIndicators(facts.indicators);
  const publisher = report.publisher ?? findPublisher(report.sourceUrl);
  return {
    title: text.title,
    ...(publisher ? { publisher } : {}),
    ...(text.publishTime ? { publishTime: text.publishTime } : {}),
    ...(text.language ? { language: text.language } : {}),
    severity,
    severityRule: rule,
    severityEvidence,
    ...quoteSummary(text.storedText, summary, tldr),
    attackPath: buildAttackPath(
      facts.techniques
        .filter(({ confidence }) => confidence >= attackPathMinConfidence)
        .map(({ technique }) => technique),
    ),
    classification: classifyReport(text.storedText, facts, { attack, iocs }),
    affectedProducts: facts.products.map(toAffectedProduct),
    iocs,
    indicators: facts.indicators,
    storedText: text.storedText,
    passages,
  };
}

/** The text of a report with its title, time and language. */
type PreparedText = {
  storedText: string;
  title: string;
  publishTime: string | undefined;
  language: string | undefined;
  /** The text without the footer of its page. */
  article: string;
  /** The sentences of the article. */
  sentences: Sentence[];
};

function prepareText(report: ReportText): PreparedText {
  const storedText = compactText(toStorableText(report.text));
  const article = storedText.slice(0, findArticleEnd(storedText));
  return {
    storedText,
    title: chooseTitle(report.title, storedText),
    publishTime: report.publishTime ?? findPublishTime(storedText, report.sourceUrl),
    language: detectLanguage(storedText),
    article,
    sentences: findSentences(article),
  };
}

function extractFacts(
  report: ReportText,
  { storedText, title, article, sentences, language }: PreparedText,
  { benign, names: dictionary }: ReferenceLists,
): ExtractedFacts {
  const { indicators, others } = extractIndicators(storedText, {
    publisherHosts: listPublisherHosts(report),
    publisher: report.publisher,
    ...(benign ? { benign } : {}),
  });
  return {
    indicators,
    others,
    techniques: extractTechniques(article, { sentences, language }),
    names: extractNames(storedText, dictionary),
    products: extractProducts({ title, sentences }, report.products),
  };
}

const summarizeReport = ({ sentences }: PreparedText, { names, techniques }: ExtractedFacts): TextSummary =>
  summarize(sentences, [...names.flatMap(({ spans }) => spans), ...techniques.map(({ sentence }) => sentence)]);

/** Makes the sentences and first mentions of the facts supporting passages of the item. */
function collectEvidence(
  { storedText }: PreparedText,
  { indicators, others, techniques, names, products }: ExtractedFacts,
  { summary, severity }: { summary: Span[]; severity: Span[] },
): { attack: Classification['attack']; severityEvidence: string[]; passages: Span[] } {
  const passages = createPassageCollector(storedText);
  const attack = techniques.map(({ technique, confidence, sentence }) =>
    toAttackEntry({ technique, confidence, evidenceRef: passages.add(sentence) }),
  );
  for (const span of summary) passages.add(span);
  const severityEvidence = severity.map((span) => passages.add(span));
  const firstMentions = [...indicators, ...others, ...names].flatMap(({ spans }) => spans.slice(0, 1));
  passages.cover([...firstMentions, ...products.map(({ sentence }) => sentence)]);
  return { attack, severityEvidence, passages: passages.list() };
}

function quoteSummary(
  storedText: string,
  summary: Span[],
  tldr: Span | undefined,
): Pick<ExtractedItem, 'summary' | 'tldr'> {
  const quote = ({ start, end }: Span): string => storedText.slice(start, end).replaceAll(/\s+/g, ' ');
  return {
    ...(summary.length > 0 ? { summary: summary.map(quote).join(' ') } : {}),
    ...(tldr ? { tldr: quote(tldr) } : {}),
  };
}

const toAffectedProduct = ({ vendor, product, versions, confidence }: ExtractedProduct) => ({
  vendor,
  product,
  versions,
  confidence,
});

const firstAnyLine = /^\s*(?:[#=]{1,6}\s+)?(\S[^\n]{0,298})/;
/** The first line, after lines that are only an address, a date or an entry of a menu. */
const firstNamedLine =
  /^(?:\s*(?:(?:https?|hxxps?):\S{1,2000}|skip (?:to (?:main )?content|links?)|menu|home|search(?: this blog)?|(?:toggle )?navigation|share|advertisement|table of contents|listen to this (?:post|article)|(?:[a-z]{3,9}day,? )?(?:\d{1,2}\.? [a-z]{3,9}|[a-z]{3,9} \d{1,2}),? (?:19|20)\d\d|(?:19|20)\d\d-\d\d-\d\d)(?=[ \t]*\n))*\s*(?:[#=]{1,6}\s+)?(?!(?:https?|hxxps?):\S*\s*$)(\S[^\n]{0,298})/i;

function chooseTitle(reportTitle: string | undefined, text: string): string {
  const firstLine = firstNamedLine.exec(text)?.[1]?.trim() ?? firstAnyLine.exec(text)?.[1]?.trim();
  return toStorableText((reportTitle?.trim() || cutParagraph(firstLine) || 'Untitled report').slice(0, titleMaxChars));
}

/** Returns the first sentence of a line that is too long for a headline. */
function cutParagraph(line: string | undefined): string | undefined {
  if (line === undefined || line.length <= headlineMaxChars) return line;
  const [first] = findSentences(line);
  return first?.text;
}

/** Returns the host of the report with the domain that the publisher has registered, in addition to the hosts that are given. */
function listPublisherHosts({ sourceUrl, publisherHosts = [] }: ReportText): string[] {
  const host = toPublisherHost(sourceUrl);
  const own = host && findOwnDomain(host);
  return [...(host ? [host] : []), ...(own ? [own] : []), ...publisherHosts];
}

function groupIndicators(indicators: ExtractedIndicator[]): Iocs {
  const iocs = emptyIocs();
  for (const { type, value, normalizedValue, status, confidence } of indicators) {
    iocs[indicatorTypes[type].bucket].push({
      type,
      value,
      status,
      confidence,
      normalizedValue,
      ttlDays: ttlDays(type, {}),
    });
  }
  return iocs;
}
