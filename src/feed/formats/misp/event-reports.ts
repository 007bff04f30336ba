import type { ClassificationBuilder } from '../../extraction/classification-builder.ts';
import type { ReferenceLists } from '../../extraction/extract-item.ts';
import type { createStatementCollector } from '../../extraction/indicator-statements.ts';
import { extractIndicators } from '../../extraction/indicators/extract-indicators.ts';
import { addProseNames } from '../../extraction/names/add-prose-names.ts';
import { extractTechniques } from '../../extraction/techniques/extract-techniques.ts';
import { valueMaxChars, type Span, type StoredText } from '../../extraction/text/stored-text.ts';
import { asObjects, asText, type JsonObject } from '../../../platform/lib/json/json-values.ts';
import { isSet } from './misp-attributes.ts';

type ReportContext = {
  statements: ReturnType<typeof createStatementCollector>;
  classification: ClassificationBuilder;
  withdrawn: boolean;
  text: StoredText;
  lists: ReferenceLists | undefined;
};

// An item has at most this many characters of text.
const reportsMaxChars = 4_000_000;
const sliceMaxChars = 200_000;

/**
 * Reads the event reports (Markdown) of an event like the text of a report: indicators, techniques and names, each with its passage. `spans` are
 * the event's fields in the stored text. Deleted reports are ignored. Long reports are read in slices that end with a line.
 */
export function addEventReports(event: JsonObject, spans: ReadonlyMap<string, Span>, context: ReportContext): void {
  const whole = context.text.text();
  let charsLeft = reportsMaxChars;
  for (const [index, report] of asObjects(event['EventReport']).entries()) {
    const field = spans.get(`EventReport[${index}].content`);
    if (!field || isDeleted(report)) continue;
    const end = Math.min(field.end, field.start + charsLeft);
    charsLeft -= end - field.start;
    for (const slice of splitAtLines(whole, { start: field.start, end })) addProse(slice, context);
  }
}

function splitAtLines(text: string, { start, end }: Span): Span[] {
  const slices: Span[] = [];
  for (let from = start; from < end;) {
    const limit = Math.min(end, from + sliceMaxChars);
    const lineEnd = limit === end ? end : text.lastIndexOf('\n', limit - 1) + 1;
    const to = lineEnd > from ? lineEnd : limit;
    slices.push({ start: from, end: to });
    from = to;
  }
  return slices;
}

/** Returns the name of the first event report that is not deleted. */
export const findReportName = (event: JsonObject): string | undefined =>
  asText(asObjects(event['EventReport']).find((report) => !isDeleted(report))?.['name'])?.trim();

const isDeleted = ({ deleted }: JsonObject): boolean => isSet(deleted);

/** Reads a part of the stored text like the text of a report. */
export function addProse(
  { start: offset, end: proseEnd }: Span,
  { statements, classification, withdrawn, text, lists }: ReportContext,
): void {
  const prose = text.text().slice(offset, proseEnd);
  const toStored = ({ start, end }: Span): Span => ({ start: start + offset, end: end + offset });
  const { indicators, others } = extractIndicators(prose, lists?.benign ? { benign: lists.benign } : {});
  for (const { type, value, normalizedValue, status, confidence, spans } of indicators) {
    statements.state(
      { kind: 'indicator', type, value, normalizedValue },
      { confidence, revoked: withdrawn, falsePositive: status === 'false_positive' },
    );
    text.addPassage(toStored(spans[0]!), valueMaxChars);
  }
  for (const { framework, id, confidence } of others)
    if (framework !== 'attack') classification.addMapping(framework, id, confidence);
  for (const { technique, confidence, sentence } of extractTechniques(prose))
    classification.addTechnique(technique, confidence, () => text.addPassage(toStored(sentence)));
  for (const span of addProseNames(classification, prose, lists?.names)) text.addPassage(toStored(span));
}
