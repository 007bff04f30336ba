import type { Candidate } from '../../analysis/candidate.ts';
import { holdsFreeText } from './free-text.ts';
import { isStartOfAny, screenFacts } from './screen-candidate.ts';

/** Fields that identify somebody or something: accounts, hosts, roles, targets, operations. */
const identifying =
  /user|account|principal|actor|owner|member|person|employee|caller|initiat|identity|client|sender|recipient|mail|host|computer|machine|device|workstation|server|role|group|target|resource|object|arn|ip$|address|domain|instance|bucket|service|policy|action|event(?:name|type|source)$|operation|activity|method|product|vendor|provider|region|country|city|source$|^src|^dst|dest|issuer|tenant|org|project|repo|key$|id$/;
/** Fields that only outsiders' texts fill, with everything that JSON text in them contains. */
const outsiderText =
  /^(?:.*(?:agent|ur[il]|link|referr?er|comment|note|message|msg|description|reason|title|body|text|content|summary|justification|remark|header|cookie|query|commandline|command|cmdline|cmd|script|args|arguments?|payload|attachment|filename|filepath|path|info)s?|ua|subject|file)$/;
/** Labels that the software itself writes, which may have several words. */
const vendorLabel = /operation|action|activity|eventname|eventtype|category|policy|product|vendor|provider|group|role/;

/** A candidate with only those fields in which a name counts, and its other values, of which `freeTexts` contain free text. */
export type NamedCandidate = {
  candidate: Candidate;
  freeTexts: ReadonlySet<string>;
  otherValues: ReadonlySet<string>;
};

/**
 * Keeps the fields that prove that a name belongs to the rows: those that identify accounts, hosts or operations. Texts that outsiders choose,
 * such as user agents, messages, URLs and subjects, prove nothing.
 */
export function keepNamedFields(candidate: Candidate): NamedCandidate {
  const freeTexts = new Set<string>();
  const otherValues = new Set<string>();
  const kept = new Set<string>();
  const rows = candidate.rows.map((row) => {
    const fields = Object.entries(row.fields).filter(([field, value]) => {
      const parts = field.toLowerCase().split('.').map(toPlain);
      const isText = parts.some((part) => outsiderText.test(part));
      const isLabel = !isText && vendorLabel.test(parts.at(-1)!);
      const isFree = !isLabel && holdsFreeText(value);
      if (isFree) freeTexts.add(value);
      const isNamed = !isFree && !isText && parts.some((part) => identifying.test(part));
      (isNamed ? kept : otherValues).add(value);
      return isNamed;
    });
    return { ...row, fields: Object.fromEntries(fields) };
  });
  for (const value of kept) otherValues.delete(value);
  const isFreeEntity = holdsFreeText(candidate.entity) || isStartOfAny(candidate.entity, freeTexts);
  if (isFreeEntity) freeTexts.add(candidate.entity);
  const entity = isFreeEntity ? '' : candidate.entity;
  const facts = screenFacts(candidate.facts, [...otherValues]);
  return { candidate: { ...candidate, entity, rows, facts }, freeTexts, otherValues };
}

const toPlain = (part: string): string => part.replaceAll(/[^a-z0-9]/g, '');
