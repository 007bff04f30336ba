import { plainFieldName } from '../../../platform/lib/text/field-name.ts';
import { functionWords } from '../../../platform/lib/text/planted-text/english.ts';
import type { Candidate, RenderedRow } from '../../analysis/candidate.ts';
import { screenFacts } from './screen-candidate.ts';

/** Fields that a person or a program outside the organization can fill: names of files, user agents, comments, subjects. */
const outsideField =
  /agent|^ua$|file|path|folder|^image|ur[il]|link|referr?er|subject|comment|note|message|description|reason|title|body|text|content|summary|detail|query|command|cmd|script|args|argument|payload|attachment|justification|remark|header|cookie|name|label|user|account|host|domain|dns|device|tag|value|info|data|to$|from$|sender|recipient|session|owner/;
/** Fields that the software itself fills, such as the name of an operation. */
const vendorField =
  /operation|action|activity|^event|eventname|eventtype|category|policy|rule|severity|status|outcome|result|error|level|channel|provider|vendor|product/;

const spacedWords = /\p{L}[\p{L}'’]+(?:[,;:.!?"]*\s+"?[\p{L}\p{N}][\p{L}\p{N}'’]*){3,}/u;
/** The platforms in the user agents of browsers. */
const platforms = /\((?:Macintosh; Intel Mac OS X|iPhone; CPU iPhone OS|iPad; CPU OS)[\d_. ]*(?:like Mac OS X)?\)/g;
const words = /\p{Lu}?\p{Ll}+|\p{Lu}+(?!\p{Ll})/gu;
/** Scripts that do not separate words. */
const unspacedWords =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]{8,}/u;
const joinedFunctionWordsMin = 2;

/** Returns whether a value contains free text: four words in a row, or a name that is made of them. */
export function holdsFreeText(value: string): boolean {
  if (spacedWords.test(value.replaceAll(platforms, '')) || unspacedWords.test(value)) return true;
  const parts = (value.match(words) ?? []).map((word) => word.toLowerCase());
  const joining = new Set(parts.filter((word) => word.length > 1 && functionWords.has(word)));
  return parts.length >= 4 && joining.size >= joinedFunctionWordsMin;
}

const isOutside = (field: string, value: string): boolean => {
  const name = plainFieldName(field);
  return outsideField.test(name) && !vendorField.test(name) && holdsFreeText(value);
};

/** A candidate without the free text that outsiders control, and the fields that had it. */
export type BareCandidate = { candidate: Candidate; fields: string[] };

/** Returns undefined if no field that an outsider controls contains free text. */
export function withoutOutsideText(candidate: Candidate): BareCandidate | undefined {
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
  const entity = values.has(candidate.entity) ? '(a text that is not shown)' : candidate.entity;
  return {
    candidate: { ...candidate, entity, rows, facts: screenFacts(candidate.facts, [...values]) },
    fields: [...fields],
  };
}
