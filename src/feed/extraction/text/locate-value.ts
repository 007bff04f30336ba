import type { Span } from './stored-text.ts';

const lineMaxChars = 400;

/**
 * Where a value stands within a range of a text, with its line where that is short: as it is, or escaped as patterns and JSON write it.
 * Undefined where it does not stand there.
 */
export function locateValue(text: string, range: Span, value: string): Span | undefined {
  const wanted = value.trim();
  for (const form of new Set([
    wanted,
    wanted.replaceAll(/[\\']/g, String.raw`\$&`),
    wanted.replaceAll(/[\\"]/g, String.raw`\$&`),
  ])) {
    const start = form === '' ? -1 : text.slice(range.start, range.end).indexOf(form);
    if (start >= 0) return extendToLine(text, { start: range.start + start, end: range.start + start + form.length });
  }
  return undefined;
}

function extendToLine(text: string, span: Span): Span {
  const start = text.lastIndexOf('\n', span.start - 1) + 1;
  const lineEnd = text.indexOf('\n', span.end);
  const end = lineEnd < 0 ? text.length : lineEnd;
  return end - start <= lineMaxChars ? { start, end } : span;
}
