import type { Span } from './stored-text.ts';

export const sentenceMaxChars = 600;
const sentenceMinChars = 12;
// A sentence ends at a line break, at punctuation before a space and a capital, digit or quote, glued to the next sentence, as in converted
// pages, or at the full stop of a script without capitals.
const boundary =
  /\n+|[.!?](?:["”’)\]]{0,2})(?=\s+["“‘(«„]?[\p{Lu}\p{Lo}0-9•])|[a-z)][.!?](?=[A-Z][a-z]{1,20} [a-z])|[•●▪]|[。！？।؟۔][」』”]?/gu;

/** Returns the sentences and lines of a text as trimmed spans of at most 600 UTF-16 units. */
export function findSentences(text: string): Span[] {
  const spans: Span[] = [];
  let start = 0;
  const push = (end: number): void => {
    for (let from = start; from < end; from += sentenceMaxChars)
      addTrimmed(text, from, Math.min(end, from + sentenceMaxChars), spans);
    start = end;
  };
  for (const match of text.matchAll(boundary)) push(match.index + match[0].length);
  push(text.length);
  return spans;
}

function addTrimmed(text: string, from: number, to: number, spans: Span[]): void {
  let start = from;
  let end = to;
  while (start < end && /\s/.test(text[start]!)) start += 1;
  while (end > start && /\s/.test(text[end - 1]!)) end -= 1;
  // Do not split a surrogate pair.
  if (/[\uDC00-\uDFFF]/.test(text[start] ?? '') && start > 0) start += 1;
  if (/[\uD800-\uDBFF]/.test(text[end - 1] ?? '')) end -= 1;
  if (end - start >= sentenceMinChars) spans.push({ start, end });
}
