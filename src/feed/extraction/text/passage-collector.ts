import type { Span } from './stored-text.ts';

/** Collects the supporting passages of a text. */
export type PassageCollector = {
  /** Adds a span as a passage unless a passage with the same start contains it. Returns the `evidenceRef` of the passage. */
  add: (span: Span) => string;
  /** Adds passages that contain all spans with the lines around them. Neighboring spans share a passage. */
  cover: (spans: Span[]) => void;
  list: () => Span[];
};

const passageMaxChars = 1_000;

export function createPassageCollector(text: string): PassageCollector {
  const list: Span[] = [];
  const byStart = new Map<number, number>();
  const prove = (span: Span): string => {
    const known = byStart.get(span.start);
    if (known !== undefined && list[known]!.end >= span.end) return toEvidenceRef(known);
    list.push({ start: span.start, end: span.end });
    byStart.set(span.start, list.length - 1);
    return toEvidenceRef(list.length - 1);
  };
  const cover = (spans: Span[]): void => {
    let block: Span | undefined;
    for (const span of spans.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
      const line = lineAround(text, span);
      if (block && span.start >= block.start && Math.max(block.end, line.end) - block.start <= passageMaxChars) {
        block = { start: block.start, end: Math.max(block.end, line.end) };
        continue;
      }
      if (block && span.start >= block.start && span.end <= block.end) continue;
      if (block) prove(block);
      block = line;
    }
    if (block) prove(block);
  };
  return { add: prove, cover, list: () => list };
}

const toEvidenceRef = (index: number): string => `provenance.supportingPassages[${index}]`;

/** Returns the line around a span, cut to `passageMaxChars`. */
function lineAround(text: string, span: Span): Span {
  const room = Math.max(0, Math.floor((passageMaxChars - (span.end - span.start)) / 2));
  const before = text.slice(Math.max(0, span.start - room), span.start);
  const after = text.slice(span.end, span.end + room);
  const start = span.start - (before.length - (before.lastIndexOf('\n') + 1));
  const lineEnd = after.indexOf('\n');
  const end = span.end + (lineEnd < 0 ? after.length : lineEnd);
  return whole(text, { start, end });
}

/** Adjusts a span so that it does not split a surrogate pair. */
function whole(text: string, { start, end }: Span): Span {
  const from = start > 0 && /[\uDC00-\uDFFF]/.test(text[start] ?? '') ? start + 1 : start;
  const to = end < text.length && /[\uDC00-\uDFFF]/.test(text[end] ?? '') ? end + 1 : end;
  return { start: from, end: to };
}
