import { toPublisherHost } from '../model/publisher-host.ts';
import { ttlDays } from '../model/expiry.ts';
import { platforms } from '../model/platforms.ts';
import type { AffectedProduct, Classification, Iocs } from '../model/item.schema.ts';
import { bucketByType, type Severity } from '../model/vocabulary.ts';
import { findTactic, listKillChainStages } from '../reference-data/attack.ts';
import { findOwnDomain } from '../reference-data/shared-suffixes.ts';
import { emptyIocs } from '../model/source-record.ts';
import { buildAttackPath, inferPlatforms, toAttackEntry } from './classification-builder.ts';
import type { BenignLookup } from './indicators/assessment/benign-values.ts';
import { extractIndicators, type ExtractedIndicator, type OtherObservable } from './indicators/extract-indicators.ts';
import { compactText } from './text/compact-text.ts';
import { detectLanguage } from './text/detect-language.ts';
import type { NameDictionary } from './names/dictionary/name-dictionary.ts';
import type { ExtractedName } from './names/extracted-name.ts';
import { extractNames } from './names/extract-names.ts';
import { createPassageCollector } from './text/passage-collector.ts';
import { detectPlatforms } from './products/detect-platforms.ts';
import { extractProducts, type ExtractedProduct } from './products/extract-products.ts';
import type { CatalogProduct } from './products/shipped-products.ts';
import { findProductPlatforms } from './products/product-platforms.ts';
import { rateReport } from './severity/rate-report.ts';
import { findPublisher, findPublishTime } from './text/report-origin.ts';
import { findArticleEnd } from './text/article-end.ts';
import { toStorableText, type Span } from './text/stored-text.ts';
import { summarize } from './text/summarize.ts';
import { extractTechniques, type ExtractedTechnique } from './techniques/extract-techniques.ts';
import { findSentences } from './text/sentence-spans.ts';

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
 * Extracts an item from the text of a report without a language model (spec/feed.md, "Filling"): indicators, techniques with their supporting
 * passages, names, platforms, products, severity by rules with their passages, and an extractive summary. The text is data: it cannot set a
 * field.
 */
export function extractItem(report: ReportText, { benign, names: dictionary }: ReferenceLists = {}): ExtractedItem {
  const storedText = compactText(toStorableText(report.text));
  const title = chooseTitle(report.title, storedText);
  const publisher = report.publisher ?? findPublisher(report.sourceUrl);
  const publishTime = report.publishTime ?? findPublishTime(storedText, report.sourceUrl);
  const articleEnd = findArticleEnd(storedText);
  const article = storedText.slice(0, articleEnd);
  const sentences = findSentences(article);
  const passages = createPassageCollector(storedText);
  const { indicators, others } = extractIndicators(storedText, {
    publisherHosts: listPublisherHosts(report),
    publisher: report.publisher,
    ...(benign ? { benign } : {}),
  });
  const techniques = extractTechniques(article, { sentences });
  const names = extractNames(storedText, dictionary);
  const products = extractProducts({ title, sentences }, report.products);
  const { summary, tldr } = summarize(sentences, [
    ...names.flatMap(({ spans }) => spans),
    ...techniques.map(({ sentence }) => sentence),
  ]);
  const attack = techniques.map(({ technique, confidence, sentence }) =>
    toAttackEntry({ technique, confidence, evidenceRef: passages.add(sentence) }),
  );
  for (const span of summary) passages.add(span);
  const language = detectLanguage(storedText);
  const { severity, rule, evidence } = rateReport({
    title,
    text: article,
    sentences,
    names,
    indicators: indicators.filter(({ status }) => status === 'active').length,
    publishTime,
    language,
    sourceUrl: report.sourceUrl,
  });
  const severityEvidence = evidence.map((span) => passages.add(span));
  const firstMentions = [...indicators, ...others, ...names].flatMap(({ spans }) => spans.slice(0, 1));
  passages.cover([...firstMentions, ...products.map(({ sentence }) => sentence)]);
  const iocs = groupIndicators(indicators);
  const textOf = ({ start, end }: Span): string => storedText.slice(start, end).replaceAll(/\s+/g, ' ');
  return {
    title,
    ...(publisher ? { publisher } : {}),
    ...(publishTime ? { publishTime } : {}),
    ...(language ? { language } : {}),
    severity,
    severityRule: rule,
    severityEvidence,
    ...(summary.length > 0 ? { summary: summary.map(textOf).join(' ') } : {}),
    ...(tldr ? { tldr: textOf(tldr) } : {}),
    attackPath: buildAttackPath(
      techniques.filter(({ confidence }) => confidence >= attackPathMinConfidence).map(({ technique }) => technique),
    ),
    classification: {
      attack,
      killChain: listKillChainStages(techniques.flatMap(({ technique }) => technique.tactics)),
      ...classifyNames(names),
      platforms: listPlatforms(storedText, iocs, products),
      mappings: listMappings(techniques, names, others),
    },
    affectedProducts: products.map(toAffectedProduct),
    iocs,
    indicators,
    storedText,
    passages: passages.list(),
  };
}

const toAffectedProduct = ({ vendor, product, versions, confidence }: ExtractedProduct) => ({
  vendor,
  product,
  versions,
  confidence,
});

function classifyNames(names: ExtractedName[]): Pick<Classification, 'malware' | 'actor'> {
  const clear = names.filter(({ ambiguous }) => !ambiguous);
  return {
    malware: toNamedEntries(clear.filter(({ kind }) => kind !== 'actor')),
    actor: toNamedEntries(clear.filter(({ kind }) => kind === 'actor')),
  };
}

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
    const bucket = bucketByType[type];
    iocs[bucket].push({ type, value, status, confidence, normalizedValue, ttlDays: ttlDays(bucket, {}) });
  }
  return iocs;
}

const toNamedEntries = (names: ExtractedName[]): Classification['malware'] =>
  names.map(({ name, confidence, aliases, printed }) => {
    const spellings = printed.filter((spelling) => spelling.toLowerCase() !== name.toLowerCase());
    return { name, confidence, aliases: [...new Set([...spellings, ...aliases])] };
  });

function listPlatforms(text: string, iocs: Iocs, products: ExtractedProduct[]): Classification['platforms'] {
  const isActive = ({ status }: { status: string }): boolean => status === 'active';
  const found = new Set([
    ...detectPlatforms(text),
    ...products.flatMap(({ vendor, product }) => findProductPlatforms(vendor, product)),
    ...inferPlatforms({
      registryKeys: iocs.registryKeys.filter(isActive),
      mobileIds: iocs.mobileIds.filter(isActive),
    }),
  ]);
  return platforms.filter((platform) => found.has(platform));
}

function listMappings(
  techniques: ExtractedTechnique[],
  names: ExtractedName[],
  others: OtherObservable[],
): Classification['mappings'] {
  const tactics = new Map<string, number>();
  for (const { technique, confidence } of techniques)
    for (const name of technique.tactics) {
      const id = findTactic(name)?.id;
      if (id) tactics.set(id, Math.max(confidence, tactics.get(id) ?? 0));
    }
  return [
    ...[...tactics].map(([id, confidence]) => ({ framework: 'mitre-attack-tactic', id, confidence })),
    ...others
      .filter(({ framework }) => framework !== 'attack')
      .map(({ framework, id, confidence }) => ({ framework, id: id.slice(0, 500).toWellFormed(), confidence })),
    ...names
      .filter(({ kind }) => kind === 'tool')
      .map(({ name, confidence }) => ({ framework: 'observable:tool', id: name, confidence })),
    ...names
      .filter(({ ambiguous }) => ambiguous)
      .map(({ name, confidence }) => ({ framework: 'observable:ambiguous-actor', id: name, confidence })),
  ];
}
