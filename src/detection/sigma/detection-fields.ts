import { parseFields, type FileFields } from '../as-code/file-fields.ts';
import { techniquesOf } from './convert/convert-rule.ts';
import type { CorrelationRule, DetectionRule } from './rules/rule.ts';

/** The converted form of a rule. `connectionId` is null for the embedded log store. */
export type RuleConversion = { query: string; entity: string | null; connectionId: string | null };

const descriptionMax = 1000;
const nameMax = 255;
const tagMax = 100;

/**
 * Returns the fields of the detection for a rule: its query, a prompt that says what to check, and in the description who wrote the rule under
 * which license. The detection is disabled unless `isEnabled`.
 */
export function toDetectionFields(
  rule: DetectionRule | CorrelationRule,
  { query, entity, connectionId }: RuleConversion,
  isEnabled: boolean,
): FileFields {
  return parseFields({
    name: rule.title.slice(0, nameMax),
    description: describeRule(rule),
    detectionCategory: 'custom',
    systemPrompt: writePrompt(rule),
    detectionQuery: query,
    detectionCadence: 'hourly',
    enabled: isEnabled,
    tags: tagsOf(rule),
    ...(entity === null ? {} : { entityField: entity }),
    ...(connectionId === null ? {} : { connectionId }),
  });
}

function tagsOf({ tags, level, status }: DetectionRule | CorrelationRule): string[] {
  const own = ['sigma', ...(level ? [`level:${level}`] : []), ...(status ? [`status:${status}`] : []), ...tags];
  return [...new Set(own.map((tag) => tag.toLowerCase().trim().slice(0, tagMax)))].filter((tag) => tag !== '');
}

/** The origin stands first, so that a long description does not displace it. */
function describeRule({ id, author, license, references, description }: DetectionRule | CorrelationRule): string {
  const parts = [
    `Sigma rule${id ? ` ${id}` : ''}${author ? ` by ${author.slice(0, 300)}` : ''}, license ${license ?? 'DRL 1.1 unless its source says otherwise'}.`,
    description.trim(),
    ...(references.length > 0 ? [`References: ${references.join(' ')}`] : []),
  ];
  const text = parts.filter((part) => part !== '').join('\n');
  return text.length <= descriptionMax ? text : `${text.slice(0, descriptionMax - 1)}…`;
}

function writePrompt(rule: DetectionRule | CorrelationRule): string {
  const techniques = techniquesOf(rule.tags);
  const list = (title: string, entries: readonly string[]): string[] =>
    entries.length > 0 ? [`${title}\n${entries.map((entry) => `- ${entry}`).join('\n')}`] : [];
  return [
    `The rows match the Sigma rule "${rule.title}". Decide whether they show what the rule is meant to detect.`,
    rule.description.trim(),
    techniques.length > 0 ? `ATT&CK techniques: ${techniques.join(', ')}.` : '',
    ...list('Check whether one of these known causes of false positives explains the rows:', rule.falsePositives),
    ...list('References:', rule.references),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}
