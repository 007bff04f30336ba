import type { NameDictionary } from '../names/dictionary/name-dictionary.ts';
import type { ExtractedName } from '../names/extracted-name.ts';
import { extractNames } from '../names/extract-names.ts';
import { extractProducts, type ExtractedProduct } from '../products/extract-products.ts';
import type { CatalogProduct } from '../products/shipped-products.ts';
import { rateReport, type ReportRating } from '../severity/rate-report.ts';
import { extractTechniques, type ExtractedTechnique } from '../techniques/extract-techniques.ts';
import { findTactic } from '../../reference-data/attack.ts';
import { cue, type AdviceStatement, listAdviceStatements } from '../lexicon/lexicon.ts';
import { isDenied, adviceSentencesMax, isAdviceTitle, isTitleLine } from '../techniques/sentence-kinds.ts';
import type { Sentence } from '../text/sentence-spans.ts';
import { splitWords } from '../techniques/sentence-features.ts';
import type { Span } from '../text/stored-text.ts';
import {
  type Claim,
  claimsOf,
  type KnownValues,
  quotedBefore,
  type Quote,
  type ReadDocument,
  toQuote,
} from './claim.ts';
import { claimFamilies } from './read-values.ts';
import { findAdviceIn, findRetractionIn } from '../techniques/technique-statements.ts';
import { isReportLanguage } from '../lexicon/languages.ts';
import type { AdviceAction } from '../../model/vocabulary.ts';

/** Installed and given lists: names instead of the shipped ones, and products in addition to them. */
export type LexiconLists = { names?: NameDictionary | undefined; products?: CatalogProduct[] | undefined };

/** Reads a report without a language model: dictionaries, cues, trained classifiers and rules. Pure. */
export function readWithLexicon(document: ReadDocument, known: KnownValues, lists: LexiconLists): Claim[] {
  const { text, title, article, sentences, language, publishTime, sourceUrl } = document;
  const techniques = extractTechniques(article, { sentences, language });
  const names = extractNames(text, lists.names);
  const products = extractProducts({ title, sentences }, lists.products);
  const highlights = [...names.flatMap(({ spans }) => spans), ...techniques.map(({ sentence }) => sentence)];
  const rating = rateReport({
    title,
    text: article,
    sentences,
    names,
    indicators: known.indicators.filter(({ status }) => status === 'active').length,
    publishTime,
    language,
    sourceUrl,
  });
  const nameClaims = names.flatMap(claimName);
  return [
    ...claimRetraction(document),
    ...techniques.map(claimTechnique),
    ...nameClaims,
    ...claimFamilies(document, known, claimsOf(nameClaims, 'name')),
    ...products.map((product) => claimProduct(document, product)),
    ...claimSeverity(rating, title),
    ...claimAdvice(document),
    ...claimSteps(document, techniques),
    ...claimSummary(document, summarize(sentences, highlights)),
  ];
}

const retractionSentencesMax = 15;

/** Claims that the publisher withdraws the report, if one of its first sentences says so in the publisher's own words. */
function claimRetraction({ sentences, language }: ReadDocument): Claim[] {
  const stated = sentences.slice(0, retractionSentencesMax).find(({ text }) => {
    if (!isReportLanguage(language)) {
      const match = cue('retraction').exec(text);
      return match !== null && isGiven(text, match);
    }
    const match = findRetractionIn(language, text);
    return match !== undefined && !quotedBefore.test(text.slice(0, match.index));
  });
  return stated ? [{ field: 'status', value: 'retracted', quote: toQuote(stated), confidence: 0.8 }] : [];
}

const claimTechnique = ({ technique, confidence, sentence }: ExtractedTechnique): Claim => ({
  field: 'technique',
  value: technique.id,
  isDone: true,
  quote: toQuote(sentence),
  confidence,
});

/** Returns a claim for each place of a name. */
const claimName = ({ spans, name, ...entity }: ExtractedName): Claim[] =>
  spans.map((span) => ({ field: 'name', ...entity, value: name, quote: toQuote(span) }));

/** Quotes the title for a product that only the title names. */
function claimProduct(document: ReadDocument, { sentence, product, ...rest }: ExtractedProduct): Claim {
  const isInSentence = document.text.slice(sentence.start, sentence.end).includes(product);
  const inTitle = document.title.indexOf(product);
  const quote =
    isInSentence || inTitle < 0 ? toQuote(sentence) : ({ ...wholeOf(document.title), in: 'title' } as const);
  return { field: 'product', ...rest, value: product, quote };
}

/** A rating without a passage in the text follows from the title. No level needs no claim. */
function claimSeverity({ severity, rule, evidence }: ReportRating, title: string): Claim[] {
  if (severity === 'none') return [];
  const quotes: Quote[] = evidence.length > 0 ? evidence.map(toQuote) : [{ ...wholeOf(title), in: 'title' }];
  return quotes.map((quote) => ({ field: 'severity', value: severity, rule, quote, confidence: 0.7 }));
}

const [stepConfidenceMin, stepsMax] = [0.6, 10];

/** Claims the sentences that describe techniques as the steps of the attack, in the order of the tactics and then of the text. */
function claimSteps({ text }: ReadDocument, techniques: ExtractedTechnique[]): Claim[] {
  const steps = new Map<number, { sentence: Span; rank: number }>();
  for (const { technique, confidence, sentence } of techniques) {
    if (confidence < stepConfidenceMin || !isProse(text.slice(sentence.start, sentence.end))) continue;
    const ranks = technique.tactics.flatMap((name) => findTactic(name)?.rank ?? []);
    const rank = Math.min(...ranks, steps.get(sentence.start)?.rank ?? Infinity);
    steps.set(sentence.start, { sentence, rank });
  }
  return [...steps.values()]
    .toSorted((a, b) => a.rank - b.rank || a.sentence.start - b.sentence.start)
    .slice(0, stepsMax)
    .map(({ sentence }) => claimSentence(text, 'step', sentence));
}

function claimSummary({ text }: ReadDocument, { summary, tldr }: { summary: Span[]; tldr: Span | undefined }): Claim[] {
  return [
    ...summary.map((span) => claimSentence(text, 'summary', span)),
    ...(tldr ? [claimSentence(text, 'tldr', tldr)] : []),
  ];
}

const claimSentence = (text: string, field: 'summary' | 'tldr' | 'step', { start, end }: Span): Claim => ({
  field,
  value: text.slice(start, end).replaceAll(/\s+/g, ' '),
  quote: { start, end },
  confidence: 0.7,
});

const wholeOf = (text: string): Span => ({ start: 0, end: text.length });

const listMarker = /^(?:[-*•–]|\d{1,2}[.)])\s/;
const [sentenceMinChars, sentenceMaxChars] = [20, 400];

/**
 * Claims what the report advises its readers to do: sentences that address readers, and instructions in sections of advice. What others advise,
 * such as the messages of attackers, is no advice.
 */
export function claimAdvice({ sentences, language }: Pick<ReadDocument, 'sentences' | 'language'>): Claim[] {
  let sectionLeft = 0;
  return sentences.flatMap(({ text, start, end }) => {
    const isUsable = text.length >= sentenceMinChars && text.length <= sentenceMaxChars && !/[?:]$/.test(text);
    const action = !isUsable
      ? undefined
      : isReportLanguage(language)
        ? findAdviceIn(language, text)
        : findAdvice(text, sectionLeft > 0);
    if (introducesAdvice(text)) sectionLeft = adviceSentencesMax;
    else if (isTitleLine(text) && action === undefined) sectionLeft = isAdviceTitle(text) ? adviceSentencesMax : 0;
    else sectionLeft -= 1;
    if (action === undefined) return [];
    const marker = listMarker.exec(text)?.[0].length ?? 0;
    const quote = { start: start + marker, end };
    return [{ field: 'advice', action, value: text.slice(marker), quote, confidence: 0.8 }];
  });
}

/** Returns whether a sentence introduces a list of advice. */
const introducesAdvice = (sentence: string): boolean =>
  cue('adviceIntroduction').test(sentence) || (sentence.endsWith(':') && cue('advising').test(sentence));

let statements: AdviceStatement[] | undefined;

/** Returns the first action that an English sentence advises. */
function findAdvice(sentence: string, isInSection: boolean): AdviceAction | undefined {
  if (!isInSection && !cue('advising').test(sentence)) return undefined;
  statements ??= listAdviceStatements();
  const [first] = statements
    .flatMap(({ means, advice, instruction }) => {
      const match = (isInSection && instruction.exec(sentence)) || advice.exec(sentence);
      return match && isGiven(sentence, match) ? [{ means, at: match.index + match[0].length }] : [];
    })
    .toSorted((a, b) => a.at - b.at);
  return first && !cue('notOurAdvice').test(sentence) ? first.means : undefined;
}

/** Returns whether words are the publisher's own, and not denied. */
const isGiven = (sentence: string, { index, 0: { length } }: RegExpExecArray): boolean =>
  !isDenied(sentence, { index, length }) && !quotedBefore.test(sentence.slice(0, index));

type TextSummary = { summary: Span[]; tldr: Span | undefined };

const summarySentences = 4;
const summaryMaxChars = 1_200;
const readSentences = 400;
const minWords = 6;

/**
 * Selects the most informative sentences of a text, in text order, and the best one as `tldr`. Sentences score by frequent content
 * words, by `highlights` (spans of extracted names and techniques) in them, and by an early position.
 */
export function summarize(sentences: Sentence[], highlights: Span[]): TextSummary {
  const prose = sentences.slice(0, readSentences).filter(({ text }) => isProse(text));
  if (prose.length === 0) return { summary: [], tldr: undefined };
  const words = prose.map(({ text }) => new Set(splitWords(text).filter((word) => word.length > 3)));
  const counts = new Map<string, number>();
  for (const set of words) for (const word of set) counts.set(word, (counts.get(word) ?? 0) + 1);
  const scored = prose.map((span, index) => {
    const sentenceWords = [...words[index]!];
    const central =
      sentenceWords.reduce((sum, word) => sum + Math.log(counts.get(word)!), 0) / Math.sqrt(sentenceWords.length + 8);
    const highlighted = highlights.filter(({ start, end }) => start < span.end && end > span.start).length;
    return { span, index, score: central + Math.min(4, highlighted) * 0.5 + 3 / (1 + index / 4) };
  });
  const chosen: typeof scored = [];
  let length = 0;
  for (const one of scored.toSorted((a, b) => b.score - a.score)) {
    if (chosen.length === summarySentences || length + one.span.end - one.span.start > summaryMaxChars) break;
    if (chosen.some((other) => overlap(words[other.index]!, words[one.index]!) > 0.6)) continue;
    chosen.push(one);
    length += one.span.end - one.span.start;
  }
  return { summary: chosen.map(({ span }) => span).toSorted((a, b) => a.start - b.start), tldr: chosen[0]?.span };
}

/** Scripts that print words without spaces. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}]/gu;
const unspacedMin = 10;

/** Returns whether a sentence is prose of any language, not a table row, a heading, an address or a list of values. */
function isProse(sentence: string): boolean {
  if (!/[.!?。！？।؟۔]["”’)」』]?$/.test(sentence) || /[|`{}<>\\]/.test(sentence)) return false;
  const plain = sentence.replaceAll(/\b(?:https?|hxxps?):\S+/gi, '');
  const words = plain.match(/[\p{L}\p{M}’']{2,}/gu)?.length ?? 0;
  if (words >= minWords && words * 9 > sentence.length * 0.75) return true;
  const letters = plain.match(unspaced)?.length ?? 0;
  return letters >= unspacedMin && letters * 2 > sentence.length;
}

function overlap(a: Set<string>, b: Set<string>): number {
  const shared = [...a].filter((word) => b.has(word)).length;
  return shared / Math.max(1, Math.min(a.size, b.size));
}
