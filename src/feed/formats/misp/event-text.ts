import { type Span, valueMaxChars, type StoredText } from '../../extraction/text/stored-text.ts';
import { asObjects, asText, type JsonObject } from '../../../platform/lib/json/json-values.ts';
import { mispSummaryComment } from '../../model/vocabulary.ts';
import { isSet, type EventAttribute } from './misp-attributes.ts';
import type { ClassificationBuilder } from '../../extraction/classification-builder.ts';
import type { ReferenceLists } from '../../extraction/extract-item.ts';
import type { createStatementCollector } from '../../extraction/indicator-statements.ts';
import { extractIndicators } from '../../extraction/indicators/extract-indicators.ts';
import { addProseNames } from '../../extraction/names/add-prose-names.ts';
import { extractTechniques } from '../../extraction/techniques/extract-techniques.ts';

/** Values with fewer characters are labels rather than sentences. */
const descriptionMinChars = 60;

/**
 * A text that describes an event, and its place in the stored text. `isReport` marks an event report, which is read as a whole, and `isExtracted`
 * the description in an export of this program, whose values and names are other attributes and tags.
 */
export type EventDescription = { text: string; span: Span; isReport: boolean; isExtracted?: boolean };

/**
 * Returns the description of an event: the summary of its report object, the excerpt of an analysis, or its first event report, from which
 * references to attributes are removed.
 */
export function findDescription(
  event: JsonObject,
  attributes: EventAttribute[],
  spans: ReadonlyMap<string, Span>,
): EventDescription | undefined {
  const found = attributes.filter(isStanding).find(isSummary) ?? attributes.filter(isStanding).find(isExcerpt);
  const span = found && spans.get(`${found.prefix}value`);
  if (span) {
    const isExtracted = found.holder['comment'] === mispSummaryComment;
    return { text: asText(found.holder['value'])!, span, isReport: false, isExtracted };
  }
  const reports = asObjects(event['EventReport']);
  const index = reports.findIndex(({ deleted, content }) => !isSet(deleted) && asText(content) !== undefined);
  const reportSpan = spans.get(`EventReport[${index}].content`);
  if (!reportSpan) return undefined;
  return { text: withoutReferences(asText(reports[index]!['content'])!), span: reportSpan, isReport: true };
}

const isStanding = ({ holder, isObjectDeleted }: EventAttribute): boolean =>
  !isObjectDeleted && !isSet(holder['deleted']);

const isSentence = ({ holder }: EventAttribute): boolean =>
  (asText(holder['value']) ?? '').length >= descriptionMinChars;

const isSummary = (attribute: EventAttribute): boolean =>
  attribute.relation === 'report summary' && isSentence(attribute);

const isExcerpt = (attribute: EventAttribute): boolean =>
  attribute.relation === undefined &&
  /^(?:text|comment)$/.test(asText(attribute.holder['type']) ?? '') &&
  attribute.holder['category'] === 'External analysis' &&
  isSentence(attribute);

const withoutReferences = (markdown: string): string =>
  markdown.slice(0, 50_000).replaceAll(/@!?\[[a-z-]+\]\([0-9a-f-]{36}\)/g, '');

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
  for (const { type, value, normalizedValue, confidence, spans, ...found } of indicators) {
    statements.state(
      { kind: 'indicator', type, value, normalizedValue },
      {
        confidence,
        revoked: withdrawn,
        falsePositive: found.status === 'false_positive' && !found.role,
        role: found.role,
      },
    );
    text.addPassage(toStored(spans[0]!), valueMaxChars);
  }
  for (const { framework, id, confidence } of others)
    if (framework !== 'attack') classification.addMapping(framework, id, confidence);
  for (const { technique, confidence, sentence } of extractTechniques(prose, { isAttack: true }))
    classification.addTechnique(technique, confidence, () => text.addPassage(toStored(sentence)));
  for (const span of addProseNames(classification, prose, lists?.names)) text.addPassage(toStored(span));
}
