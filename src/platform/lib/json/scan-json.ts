const [space, tab, newline, carriageReturn] = [0x20, 0x09, 0x0a, 0x0d];
const [quote, backslash, letterU] = [0x22, 0x5c, 0x75];
const scalarEnds = new Set([...',]}:"[{ \t\n\r'].map((character) => character.charCodeAt(0)));
/** The longest number or word that is accepted. */
const scalarLengthMax = 1_000;

/** Returns the position of the first character that is not white space. */
export function skipSpace(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== space && code !== newline && code !== tab && code !== carriageReturn) return at;
    at += 1;
  }
}

/** Returns the end of a number or word. Throws a SyntaxError if it is empty or too long. */
export function readScalarEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && at - from <= scalarLengthMax && !scalarEnds.has(text.charCodeAt(at))) at += 1;
  if (at === from || at - from > scalarLengthMax) throw new SyntaxError(`There is no value at ${from}.`);
  return at;
}

/** Returns the position of the quote that ends a text, or where to continue if that is at `to` or later: never inside of an escape. */
export function scanText(text: string, from: number, to: number): number {
  let at = from;
  while (at < to) {
    const code = text.charCodeAt(at);
    if (code === quote) return at;
    if (code !== backslash) at += 1;
    else at += text.charCodeAt(at + 1) === letterU ? 6 : 2;
  }
  if (at >= text.length) throw new SyntaxError('A text does not end.');
  return at;
}

export const isTextDone = (text: string, at: number): boolean => text.charCodeAt(at) === quote;
