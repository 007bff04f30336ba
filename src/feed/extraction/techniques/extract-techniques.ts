import { isReportLanguage, reportLanguages, translateCues } from '../lexicon/languages.ts';
import { cue, type CueId } from '../lexicon/lexicon.ts';
import {
  adviceSentencesMax,
  isAdviceTitle,
  isTitleLine,
  isDefensive,
  isGeneral,
  isUnobserved,
} from './sentence-kinds.ts';
import { hashFeatures, splitWords } from './sentence-features.ts';
import { getShippedModel, scoreLabels, type LinearModel } from '../classifier/linear-model.ts';
import { findStatedTechniques } from './technique-statements.ts';
import { findMatches } from '../text/find-matches.ts';
import { findSentences, type Sentence } from '../text/sentence-spans.ts';
import type { Span } from '../text/stored-text.ts';
import { findTechnique, type Technique, cacheFromTechniques } from '../../reference-data/attack.ts';

export type ExtractedTechnique = {
  technique: Technique;
  confidence: number;
  by: 'id' | 'name' | 'statement' | 'sentence';
  /** The sentence with the strongest evidence. */
  sentence: Span;
};

const idConfidence = 0.95;
const nameConfidence = 0.8;
const statementConfidence = 0.75;
/** Plain statements have rules, so a sentence without one must be clearer than the model's thresholds, which balance the classifier alone. */
const marginMin = 0.1;
const vagueMarginMin = 0.1;
/** Techniques whose sentences look like those of many others, or that have a rule which finds what reports state of them. */
const vague = new Set(
  'T1005 T1012 T1016 T1027.009 T1036.005 T1055.001 T1055.002 T1074.001 T1095 T1190 T1210 T1518.001 T1564.001 T1573.001 T1106 T1068 T1033 T1570'.split(
    ' ',
  ),
);

/**
 * Extracts the techniques that a text states by id or name, or that a linear sentence classifier recognizes. Sorted by confidence
 * (0 to 1), highest first. `language` is the language of the text, if it is known. `isAttack`: it is about attacks, whether it says so or not.
 */
export function extractTechniques(
  text: string,
  {
    sentences = findSentences(text),
    model = getShippedModel('techniques'),
    language,
    isAttack = false,
  }: { sentences?: Sentence[]; model?: LinearModel; language?: string | undefined; isAttack?: boolean } = {},
): ExtractedTechnique[] {
  const found = new Map<string, ExtractedTechnique>();
  const add = (candidate: ExtractedTechnique): void => {
    const known = found.get(candidate.technique.id);
    if (!known || candidate.confidence > known.confidence) found.set(candidate.technique.id, candidate);
  };
  // What administrators do is no technique of attackers.
  const isHostile =
    isAttack ||
    (isReportLanguage(language) && !reportLanguages[language].words) ||
    sentences.some((one) => {
      const english = translateCues(one.text, language);
      return cue('hostile').test(english) && !isDefensive(english);
    });
  const { best, stated } = readSentences(isHostile ? sentences : [], model, language);
  for (const [label, { margin, threshold, span }] of best) {
    const technique = findTechnique(label);
    if (technique) add({ technique, confidence: toConfidence(margin - threshold), by: 'sentence', sentence: span });
  }
  for (const [id, span] of stated) {
    const technique = findTechnique(id);
    if (technique) add({ technique, confidence: statementConfidence, by: 'statement', sentence: span });
  }
  for (const mention of [...findTechniqueIds(text), ...findTechniqueNames(text)]) {
    const sentence = findSentence(sentences, mention.span);
    if (mention.by === 'name' && isDefensive(text.slice(sentence.start, sentence.end))) continue;
    add({
      technique: mention.technique,
      confidence: mention.by === 'id' ? idConfidence : nameConfidence,
      by: mention.by,
      sentence,
    });
  }
  // `T1566` adds nothing to `T1566.001`, unless the text prints it.
  const isRedundant = ({ technique, by }: ExtractedTechnique): boolean =>
    by === 'statement' && [...found.keys()].some((id) => id.startsWith(`${technique.id}.`));
  return [...found.values()]
    .filter((one) => !isRedundant(one))
    .toSorted((a, b) => b.confidence - a.confidence || (a.technique.id < b.technique.id ? -1 : 1));
}

type BestSentence = { margin: number; threshold: number; span: Span };

/** Returns the sentence with the largest margin per label, if the margin reaches the label's threshold. */
export const findBestSentences = (sentences: Sentence[], model: LinearModel): Map<string, BestSentence> =>
  readSentences(sentences, model).best;

/** Returns the best sentence per label of the classifier, and the first sentence that states a technique plainly. */
function readSentences(
  sentences: Sentence[],
  model: LinearModel,
  language?: string,
): { best: Map<string, BestSentence>; stated: Map<string, Span> } {
  const margins = new Float32Array(model.labels.length);
  const most = new Float32Array(model.labels.length).fill(-Infinity);
  const at = new Int32Array(model.labels.length);
  const stated = new Map<string, Span>();
  // Lists and logs repeat sentences, which add nothing after the same previous one.
  const seenAfter = new Map<string, Set<string>>();
  let previous = '';
  let adviceLeft = 0;
  for (const [index, span] of sentences.entries()) {
    const { text: sentence } = span;
    if (isTitleLine(sentence)) adviceLeft = isAdviceTitle(sentence) ? adviceSentencesMax : 0;
    else if (adviceLeft > 0) {
      adviceLeft -= 1;
      previous = sentence;
      continue;
    }
    const earlier = seenAfter.get(sentence);
    if (earlier?.has(previous)) {
      previous = sentence;
      continue;
    }
    if (earlier) earlier.add(previous);
    else seenAfter.set(sentence, new Set([previous]));
    const words = splitWords(sentence);
    if (!isLabel(sentence))
      for (const id of findStatedTechniques({ sentence, words, previous, language }, stated)) stated.set(id, span);
    previous = sentence;
    const features = hashFeatures(words);
    if (features.length < 4 || isListRow(sentence) || otherScript.test(sentence)) continue;
    scoreLabels(model, features, margins);
    let isIgnored: boolean | undefined;
    for (let label = 0; label < margins.length; label += 1) {
      if (margins[label]! <= most[label]!) continue;
      // Evaluated only for sentences that would count.
      if (
        margins[label]! >= model.thresholds[label]! + marginMin &&
        ((isIgnored ??= isGeneral(translateCues(sentence, language)) || isUnobserved(sentence)) ||
          isOther(model.labels[label]!, sentence))
      )
        continue;
      most[label] = margins[label]!;
      at[label] = index;
    }
  }
  const best = new Map<string, BestSentence>();
  for (const [label, id] of model.labels.entries()) {
    const threshold = model.thresholds[label]! + marginMin + (vague.has(id) ? vagueMarginMin : 0);
    if (most[label]! >= threshold) best.set(id, { margin: most[label]!, threshold, span: sentences[at[label]!]! });
  }
  return { best, stated };
}

const indicator =
  /\[(?:\.|dot|:)\]|\bhxxps?:|:\/\/|\b[\da-f]{32,128}\b|\b\d{1,3}(?:\.\d{1,3}){3}\b|[A-Za-z]:\\|\bHK(?:LM|CU|EY)|\.(?:exe|dll|zip|js|ps1|docx?|xls[xm]?|pdf|iso|lnk|bin|dat|png|php)\b/i;
const proseWordsMin = 5;

/** Returns whether a line is a heading, a table row or a list of indicators, which describe no behavior. */
function isListRow(line: string): boolean {
  if (/^\s*[#|]|:$/.test(line) || !/\p{Ll}/u.test(line) || isHeading(line)) return true;
  const isField = /^[^\p{L}\d]*\p{Lu}[\p{L}\d]*(?: [\p{L}\d]+){0,2}: /u.test(line);
  if (!isField && !indicator.test(line)) return false;
  let words = 0;
  for (const _ of line.matchAll(/(?:^|[\s("“])\p{Ll}[\p{Ll}'’-]*(?=[\s,.;:)”"]|$)/gu)) words += 1;
  return words < proseWordsMin;
}

/** Techniques with the words of sentences that only look like them: code that is added to packages, files that victims decrypt. */
const lookalikes: [label: string, id: CueId][] = [
  ['T1574.001', 'appInstallation'],
  ['T1105', 'storedFiles'],
  ['T1140', 'recovery'],
  ['T1055', 'tampering'],
];
const isOther = (label: string, sentence: string): boolean =>
  lookalikes.some(([technique, id]) => label.startsWith(technique) && cue(id).test(sentence));

/** Scripts of languages that the classifier has not learned. */
const otherScript = /[\u0370-\u052F\u0590-\u06FF\u0E00-\u0E7F\u3040-\u30FF\u4E00-\u9FFF\uAC00-\uD7AF]/;

/** Returns whether a line has a few words before a list: `Encoded commands:`. */
const isLabel = (line: string): boolean => line.length <= headingMaxChars && /^\W*\S+(?: \S+){0,3}:\W*$/.test(line);

const headingMaxChars = 80;

/** Returns whether a line is short, without an end, and all its longer words are capitalized: `Search This Blog`. */
function isHeading(line: string): boolean {
  if (line.length > headingMaxChars || /[.!?;,]["”’)]?$/.test(line)) return false;
  return line.split(/\s+/).every((word) => word.length <= 3 || !/^[("“]?\p{Ll}/u.test(word));
}

/** Converts the margin above the threshold to a confidence: 0.5 at the threshold, 0.88 at 1 above it. */
const toConfidence = (above: number): number => Math.round(100 / (1 + Math.exp(-2 * above))) / 100;

function findSentence(sentences: Span[], span: Span): Span {
  let low = 0;
  let high = sentences.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sentences[middle]!.end < span.end) low = middle + 1;
    else high = middle;
  }
  const sentence = sentences[low];
  return sentence && sentence.start <= span.start ? sentence : span;
}

type TechniqueMention = { technique: Technique; span: Span; by: 'id' | 'name' };

// Includes rule tags such as `attack.t1059.001`.
const id = /\b(?:T[01]\d{3}(?:[./]\d{3})?|(?<=\battack\.)t[01]\d{3}(?:\.\d{3})?)\b/g;

/** Finds ATT&CK ids and maps revoked ids to their successors. Unknown ids are omitted. */
function findTechniqueIds(text: string): TechniqueMention[] {
  const found: TechniqueMention[] = [];
  for (const match of findMatches(id, text)) {
    const technique = findTechnique(match[0].replace('/', '.').toUpperCase());
    if (technique)
      found.push({ technique, span: { start: match.index, end: match.index + match[0].length }, by: 'id' });
  }
  return found;
}

// Technique names that are everyday words or parts of products. Only their ids count.
const everyday = new Set([
  'Control Panel',
  'Multi-Factor Authentication',
  ...`Tool Malware Server Domains Botnet Rundll32 Accounts Software Hardware Firmware Credentials Service Disable Email Spearphishing Phishing
  Exploits Vulnerabilities Serverless Malvertising Launchd Cron At Python JavaScript PowerShell Keychain Trap Screensaver Databases Wordlist`.split(
    /\s+/,
  ),
]);

type TechniqueName = { technique: Technique; name: string; lowerName: string };
const word = /\b[A-Za-z][A-Za-z0-9/&-]*/g;
const namesByFirstWord = cacheFromTechniques(indexOfNames);

/**
 * Finds technique names of two words in the exact case of ATT&CK that are no part of a longer title, and of three or more words in any case.
 */
function findTechniqueNames(text: string): TechniqueMention[] {
  const byFirstWord = namesByFirstWord();
  const found: TechniqueMention[] = [];
  for (const match of findMatches(word, text)) {
    for (const { technique, name, lowerName } of byFirstWord.get(match[0].toLowerCase()) ?? []) {
      const printed = text.slice(match.index, match.index + name.length);
      if (printed.toLowerCase() !== lowerName || /\w/.test(text[match.index + name.length] ?? '')) continue;
      const isShort = name.split(' ').length < 3;
      if (isShort && (printed !== name || /^ \p{Lu}\p{Ll}/u.test(text.slice(match.index + name.length)))) continue;
      found.push({ technique, span: { start: match.index, end: match.index + name.length }, by: 'name' });
    }
  }
  return found;
}

function indexOfNames(techniques: Technique[]): Map<string, TechniqueName[]> {
  const index = new Map<string, TechniqueName[]>();
  const seen = new Map<string, number>();
  for (const { name } of techniques) seen.set(name, (seen.get(name) ?? 0) + 1);
  for (const technique of techniques) {
    // A name that two techniques share identifies neither.
    if (everyday.has(technique.name) || seen.get(technique.name)! > 1 || !technique.name.includes(' ')) continue;
    const first = /^[A-Za-z][A-Za-z0-9/&-]*/.exec(technique.name)?.[0].toLowerCase();
    if (!first) continue;
    index.set(first, [
      ...(index.get(first) ?? []),
      { technique, name: technique.name, lowerName: technique.name.toLowerCase() },
    ]);
  }
  return index;
}
