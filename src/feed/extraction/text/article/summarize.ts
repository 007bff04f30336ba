import type { Sentence } from '../sentence-spans.ts';
import type { Span } from '../stored-text.ts';
import { splitWords } from '../../techniques/sentence-features.ts';

export type TextSummary = { summary: Span[]; tldr: Span | undefined };

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
export function isProse(sentence: string): boolean {
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
