import { findSentences } from '../text/sentence-spans.ts';
import type { Span } from '../text/stored-text.ts';
import type { KnownValues, ReadDocument } from './claim.ts';

type SectionKind = 'title' | 'lead' | 'body' | 'table' | 'indicators';
type Section = Span & { kind: SectionKind };

/** A part of a document that a model reads at once, with its sections. */
export type DocumentPart = Span & { sections: Section[] };

const leadMaxChars = 800;
const valueShareMin = 0.5;
const listLinesShown = 20;

/**
 * Splits the article of a report into parts of at most `charsMax` characters at the ends of sections, lines and sentences. The footer of the page
 * is in none.
 */
export function splitDocument(document: ReadDocument, known: KnownValues, charsMax: number): DocumentPart[] {
  const parts: DocumentPart[] = [];
  for (const section of listSections(document, known).flatMap((one) => splitSection(document, one, charsMax))) {
    const last = parts.at(-1);
    if (last && section.end - last.start <= charsMax) {
      last.sections.push(section);
      last.end = section.end;
    } else parts.push({ start: section.start, end: section.end, sections: [section] });
  }
  return parts;
}

/** Splits a part whose answer was too long into halves, or returns it alone if it cannot be split. */
export function halvePart(document: ReadDocument, part: DocumentPart): DocumentPart[] {
  const half = Math.ceil((part.end - part.start) / 2);
  const sections = part.sections.flatMap((section) => splitSection(document, section, half));
  const middle = Math.max(
    1,
    sections.findIndex(({ end }) => end - part.start > half),
  );
  return [sections.slice(0, middle), sections.slice(middle)]
    .filter((some) => some.length > 0)
    .map((some) => ({ start: some[0]!.start, end: some.at(-1)!.end, sections: some }));
}

/** Returns the text of a part with the kinds of its sections. Of a long list of values it shows the first lines. */
export function renderPart({ text }: Pick<ReadDocument, 'text'>, { sections }: DocumentPart): string {
  return sections
    .map(({ kind, start, end }) => {
      const lines = text.slice(start, end).split('\n');
      const hidden = kind === 'indicators' ? lines.length - listLinesShown : 0;
      const shown = hidden > 0 ? [...lines.slice(0, listLinesShown), `(${hidden} more lines of values)`] : lines;
      return `[${kind}]\n${shown.join('\n')}`;
    })
    .join('\n');
}

function listSections({ article, title }: ReadDocument, { indicators }: KnownValues): Section[] {
  const values = indicators.flatMap(({ spans }) => spans).toSorted((a, b) => a.start - b.start);
  const sections: Section[] = [];
  let prose = 0;
  let at = 0;
  let nextValue = 0;
  for (const line of article.split('\n')) {
    const span = { start: at, end: at + line.length };
    at = span.end + 1;
    while (nextValue < values.length && values[nextValue]!.end <= span.start) nextValue += 1;
    let valueChars = 0;
    for (let index = nextValue; index < values.length && values[index]!.start < span.end; index += 1)
      valueChars += values[index]!.end - values[index]!.start;
    if (line.trim() === '') continue;
    const kind = classifyLine(line, {
      title,
      valueChars,
      isFirst: sections.length === 0,
      isLead: prose < leadMaxChars,
    });
    if (kind === 'lead') prose += line.length;
    const last = sections.at(-1);
    if (last?.kind === kind) last.end = span.end;
    else sections.push({ ...span, kind });
  }
  return sections;
}

type LineContext = { title: string; valueChars: number; isFirst: boolean; isLead: boolean };

function classifyLine(line: string, { title, valueChars, isFirst, isLead }: LineContext): SectionKind {
  if (isFirst && line.trim().length <= 2 * title.length && line.includes(title)) return 'title';
  if (valueChars > line.length * valueShareMin) return 'indicators';
  if (line.includes('\t') || line.split('|').length > 2) return 'table';
  return isLead ? 'lead' : 'body';
}

/** Splits a section that is longer than `charsMax` at lines, and longer lines at sentences. */
function splitSection({ text }: ReadDocument, section: Section, charsMax: number): Section[] {
  if (section.end - section.start <= charsMax) return [section];
  const pieces: Section[] = [];
  const sentences = findSentences(text.slice(section.start, section.end));
  for (const { start, end } of sentences) {
    const span = { start: section.start + start, end: section.start + end };
    const last = pieces.at(-1);
    if (last && span.end - last.start <= charsMax) last.end = span.end;
    else pieces.push({ ...span, kind: section.kind });
  }
  return pieces;
}
