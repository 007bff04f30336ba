import type { SourceRecord } from '../../model/source-record.ts';
import type { ExtractedItem } from '../extract-item.ts';

/** Names of indicators stand in a text undated; what dates a record has come from whoever published it. */
type TextRecordFields = Pick<SourceRecord, 'recordId' | 'canonicalKey'> &
  Partial<
    Pick<SourceRecord, 'externalId' | 'publisher' | 'url' | 'textUrl' | 'publishTime' | 'tlp' | 'language' | 'abstract'>
  >;

/** The record of a source whose content is a text: what its extraction found, with what is known of it otherwise. */
export function toTextRecord(extracted: ExtractedItem, given: TextRecordFields): SourceRecord {
  const { indicators: _reasons, ...content } = extracted;
  return { withdrawn: false, ...content, ...given, language: given.language ?? content.language };
}
