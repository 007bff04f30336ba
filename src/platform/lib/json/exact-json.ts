/** JSON text as values, but whole numbers that a double cannot hold stay text. Throws a SyntaxError. */
export function parseExactJson(text: string): unknown {
  return JSON.parse(longNumber.test(text) ? text.replaceAll(stringOrLong, quoteLong) : text);
}

// A reviver with the source of each value does the same in five times the time, and answers are large.
const longNumber = /(?:^|[:,[])\s*-?[1-9]\d{15,}\s*(?:$|[,\]}])/;
// What is opened and never closed goes to the end: looked for from each quote within, it would take time by the square of the length.
const stringOrLong = /"[^"\\]*(?:\\[^][^"\\]*)*(?:"|\\?$)|(?<![\w.+-])-?[1-9]\d{15,}(?![\w.+-])/g;

const quoteLong = (found: string): string =>
  found.startsWith('"') || Number.isSafeInteger(Number(found)) ? found : `"${found}"`;
