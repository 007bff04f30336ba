import type { Span } from '../../extraction/text/stored-text.ts';
import { asObjects, asText, type JsonObject } from '../../../platform/lib/json/json-values.ts';
import { mispSummaryComment } from '../../model/vocabulary.ts';
import { isSet, type EventAttribute } from './misp-attributes.ts';

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
