/** Parses JSON, but returns integers that a double cannot represent as text. Throws a SyntaxError. */
export function parseExactJson(text: string): unknown {
  return JSON.parse(longInteger.test(text) ? text.replaceAll(stringOrLongInteger, quoteIfUnsafe) : text);
}

// A reviver that reads the source of each value does the same but takes five times as long, and responses are large.
const longInteger = /(?:^|[:,[])\s*-?[1-9]\d{15,}\s*(?:$|[,\]}])/;
// An unclosed string matches up to the end of the text. Retrying from each quote inside it would take quadratic time.
const stringOrLongInteger = /"[^"\\]*(?:\\[^][^"\\]*)*(?:"|\\?$)|(?<![\w.+-])-?[1-9]\d{15,}(?![\w.+-])/g;

const quoteIfUnsafe = (token: string): string =>
  token.startsWith('"') || Number.isSafeInteger(Number(token)) ? token : `"${token}"`;
