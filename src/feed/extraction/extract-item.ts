import { toPublisherHost } from '../model/source-record.ts';
import { findOwnDomain } from '../reference-data/shared-suffixes.ts';
import type { BenignLookup } from './indicators/assessment/benign-values.ts';
import { extractIndicators, type ExtractedIndicator } from './indicators/extract-indicators.ts';
import { detectLanguage } from './text/detect-language.ts';
import type { NameDictionary } from './names/dictionary/name-dictionary.ts';
import type { CatalogProduct } from './products/shipped-products.ts';
import { buildItem, type ItemFields } from './reading/build-item.ts';
import { checkClaims, type CheckedClaims } from './reading/check-claims.ts';
import { type Claim, type KnownValues, type ReadDocument, mergeClaims } from './reading/claim.ts';
import { readModelClaims, type PartAnswer } from './reading/model-claims.ts';
import { applyRoles, claimRoles } from './reading/read-values.ts';
import { readWithLexicon } from './reading/read-with-lexicon.ts';
import { findPublisher, findPublishTime } from './reading/report-origin.ts';
import { toStorableText } from '../../platform/lib/text/storable-text.ts';
import { compactText, findSentences } from './text/sentence-spans.ts';

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
export type ExtractedItem = ItemFields & {
  title: string;
  /** The publisher and the publish time, as given or as the address and the opening lines state them. */
  publisher?: string;
  publishTime?: string;
  language?: string;
  /** The indicators with reasons and spans, to explain each decision. */
  indicators: ExtractedIndicator[];
  storedText: string;
};

const titleMaxChars = 300;
const headlineMaxChars = 150;

/**
 * Extracts an item from the text of a report without a language model. The text is data: it cannot set a field.
 */
export function extractItem(report: ReportText, lists: ReferenceLists = {}): ExtractedItem {
  const { document, known, lexicon } = readReport(report, lists);
  return toItem(report, document, known, lexicon.claims);
}

/** A report with the values that code extracted and the claims of the lexicon that check out. */
export type ReadReport = { document: ReadDocument; known: KnownValues; lexicon: CheckedClaims };

/** Prepares the text of a report, extracts its values and reads it with the lexicon. */
export function readReport(report: ReportText, lists: ReferenceLists = {}): ReadReport {
  const document = prepareDocument(report);
  const extracted = extractIndicators(document.text, {
    publisherHosts: listPublisherHosts(report),
    publisher: report.publisher,
    ...(lists.benign ? { benign: lists.benign } : {}),
  });
  const roles = checkClaims(document, extracted, claimRoles(document, extracted)).claims;
  const known = applyRoles(extracted, roles);
  const claims = readWithLexicon(document, known, { names: lists.names, products: report.products });
  return { document, known, lexicon: checkClaims(document, known, [...roles, ...claims]) };
}

/** What is known of a model's reading: its answers, or claims of an earlier reading of the same text. */
export type ModelInput = { answers?: readonly PartAnswer[]; claims?: readonly Claim[] };

/** A report as two readers read it, and the item of both. `malformed` claims of the model had no usable form. */
export type CompletedReport = ReadReport & { model: CheckedClaims; malformed: number; item: ExtractedItem };

/** Completes an item with the claims of a model. They pass the same checks as those of the lexicon. */
export function completeItem(
  report: ReportText,
  { answers = [], claims: earlier = [] }: ModelInput,
  lists: ReferenceLists = {},
): CompletedReport {
  const read = readReport(report, lists);
  const { document, known, lexicon } = read;
  const { claims, malformed } = readModelClaims(answers, document, lists.names);
  const model = checkClaims(document, known, [...earlier, ...claims]);
  const item = toItem(report, document, known, mergeClaims(lexicon.claims, model.claims));
  return { ...read, model, malformed, item };
}

function toItem(
  report: ReportText,
  { title, text, publishTime, language }: ReadDocument,
  known: KnownValues,
  claims: readonly Claim[],
): ExtractedItem {
  const publisher = report.publisher ?? findPublisher(report.sourceUrl);
  return {
    title,
    ...(publisher ? { publisher } : {}),
    ...(publishTime ? { publishTime } : {}),
    ...(language ? { language } : {}),
    ...buildItem(text, known, claims),
    indicators: known.indicators,
    storedText: text,
  };
}

function prepareDocument(report: ReportText): ReadDocument {
  const text = compactText(toStorableText(report.text));
  const article = text.slice(0, findArticleEnd(text));
  return {
    text,
    title: chooseTitle(report.title, text),
    article,
    sentences: findSentences(article),
    language: detectLanguage(text),
    publisher: report.publisher,
    publishTime: report.publishTime ?? findPublishTime(text, report.sourceUrl),
    sourceUrl: report.sourceUrl,
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

/** Lines that begin the links, comments and forms below an article. */
const footerLine =
  /^(?:[#*>-]|[^\S\n])*(?:read (?:more|next|also)|more (?:stories|news|articles|from [^\n]{1,40})|(?:related|recommended|similar|popular|recent|latest)(?: (?:articles|stories|posts|news|reading|content|topics))?|you (?:may|might) also (?:like|be interested in)|see also|further reading|share (?:this|on)[^\n]{0,30}|comments?|leave a (?:reply|comment)|join the conversation|about the authors?|subscribe[^\n]{0,40}|(?:sign up|get)[^\n]{0,60}newsletter[^\n]{0,20}|follow us[^\n]{0,30}|tags|no (?:newer|more|previous) articles?)(?:[:.…*]|[^\S\n])*$/gim;
const articleShareMin = 0.4;

/** Returns the offset at which the article of a page ends and its footer begins, or the length of the text. */
export function findArticleEnd(text: string): number {
  const start = text.length * articleShareMin;
  footerLine.lastIndex = 0;
  for (let match = footerLine.exec(text); match; match = footerLine.exec(text))
    if (match.index >= start) return match.index;
  return text.length;
}
