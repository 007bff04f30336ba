/** A part of a text without a stop in it, as lowercase words. `starts` are the positions at which a sentence may begin. */
export type Segment = { words: string[]; starts: number[]; isQuestion: boolean };

const segmentsMax = 400;
// A word, a token that mixes letters and digits or symbols, a question mark, or any other character.
const tokens = /[\p{L}\p{M}][\p{L}\p{M}'-]*|\p{N}+|[?？¿؟]|\n|[^\s\p{L}\p{M}\p{N}]/gu;

/** Splits a folded text at stops, quotation marks, brackets and symbols. Numbers become `#`. */
export function splitSegments(text: string): Segment[] {
  const segments: Segment[] = [];
  let current: Segment = { words: [], starts: [], isQuestion: false };
  const end = (isQuestion: boolean): void => {
    if (current.words.length > 0) segments.push({ ...current, isQuestion });
    current = { words: [], starts: [], isQuestion: false };
  };
  let previousEnd = 0;
  let isAfterComma = false;
  for (const match of text.matchAll(tokens)) {
    if (segments.length === segmentsMax) break;
    const [token] = match;
    const isAttached = match.index === previousEnd && match.index > 0;
    previousEnd = match.index + token.length;
    if (/^\p{N}/u.test(token)) {
      // A number within a name (`host01`) is no word of a sentence.
      if (isAttached && /[\p{L}_]/u.test(text[match.index - 1]!)) end(false);
      else current.words.push('#');
    } else if (/^[\p{L}\p{M}]/u.test(token)) {
      const isCapital = /^\p{Lu}\p{Ll}*(?:'\p{Ll}+)?$/u.test(token);
      if (current.words.length === 0 || isCapital || isAfterComma) current.starts.push(current.words.length);
      current.words.push(token.toLowerCase().replace(/[-']+$/, ''));
      isAfterComma = false;
    } else if (/^[?？؟]/.test(token)) end(true);
    else if (token === '=' && !/[\p{L}\p{N}]/u.test(text[match.index - 1] ?? '')) continue;
    else if (token === ',') isAfterComma = true;
    else if (!/^['’&%$€-]/.test(token)) end(false);
  }
  end(false);
  return segments;
}
