import type { SourceRecord } from '../../model/source-record.ts';
import type { ExtractedItem } from '../extract-item.ts';

/** The record fields that the publisher determines. */
type TextRecordFields = Pick<SourceRecord, 'recordId' | 'canonicalKey'> &
  Partial<
    Pick<SourceRecord, 'externalId' | 'publisher' | 'url' | 'textUrl' | 'publishTime' | 'tlp' | 'language' | 'abstract'>
  >;

/** Combines the extracted content of a text with the fields of its publisher. */
export function toTextRecord(extracted: ExtractedItem, fields: TextRecordFields): SourceRecord {
  const { indicators: _reasons, publisher: _publisher, publishTime, ...content } = extracted;
  return {
    ...content,
    ...fields,
    publishTime: fields.publishTime ?? publishTime,
    language: fields.language ?? content.language,
  };
}
