import { plainFieldName } from '../../../platform/lib/text/canonical-text.ts';
import type { Candidate, RenderedRow } from '../../analysis/candidate.ts';
import { holdsFreeText } from './free-text.ts';
import { withoutRepeatedMessages } from './repeated-message.ts';
import { isStartOfAny, screenFacts } from './screen-candidate.ts';

/** Fields that a person or a program outside the organization can fill: names of files, user agents, comments, subjects. */
const outsideField =
  /agent|^ua$|file|path|folder|^image|ur[il]|link|referr?er|subject|comment|note|message|description|reason|title|body|text|content|summary|detail|query|command|cmd|script|args|argument|payload|attachment|justification|remark|header|cookie|name|label|user|account|host|domain|dns|device|tag|value|info|data|to$|from$|sender|recipient|session|owner/;
/** Fields that the software itself fills, such as the name of an operation. */
const vendorField =
  /operation|action|activity|^event|eventname|eventtype|category|policy|rule|severity|status|outcome|result|error|level|channel|provider|vendor|product/;

const isOutside = (field: string, value: string): boolean => {
  const name = plainFieldName(field);
  return outsideField.test(name) && !vendorField.test(name) && holdsFreeText(value);
};

/** A candidate without the free text that outsiders control, and the fields that had it. */
export type BareCandidate = { candidate: Candidate; fields: string[] };

/**
 * Returns undefined if no field that an outsider controls contains free text. Messages that repeat the other fields of a row are left out of
 * it and do not count, because a judge does not read them.
 */
export function withoutOutsideText(full: Candidate): BareCandidate | undefined {
  const candidate = withoutRepeatedMessages(full);
  const fields = new Set<string>();
  const values = new Set<string>();
  const rows = candidate.rows.map((row): RenderedRow => {
    const kept = Object.entries(row.fields).filter(([field, value]) => {
      if (!isOutside(field, value)) return true;
      fields.add(field);
      values.add(value);
      return false;
    });
    return { ...row, fields: Object.fromEntries(kept) };
  });
  if (fields.size === 0) return undefined;
  const isHidden = holdsFreeText(candidate.entity) || isStartOfAny(candidate.entity, values);
  const entity = isHidden ? '(a text that is not shown)' : candidate.entity;
  return {
    candidate: { ...candidate, entity, rows, facts: screenFacts(candidate.facts, [...values]) },
    fields: [...fields],
  };
}
