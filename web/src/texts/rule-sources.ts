import type { AppliedUpdate, ImportProgress, RuleSource, RuleUpdate } from '../api/rule-sources.ts';
import { countOf, formatNumber } from '../lib/text.ts';
import { texts as common } from './common.ts';

export const texts = {
  title: common.pages.ruleSources,
  add: 'Add rule source',
  empty: 'No rule sources yet',
  emptyBody:
    'A rule source is a set of Sigma rules at an address. It is checked once a day, shows what a new version changes and how much it would match, and imports it when you say so.',
  from: 'Where the rules come from',
  additions: { new: 'SigmaHQ', own: 'An address' },
  packages: 'Release packages',
  addPackage: 'Add',
  added: 'Added',
  name: 'Name',
  address: 'Address',
  addressHint: 'A zip archive, a tar.gz archive or a YAML file, or a package such as sigmahq:core',
  create: 'Add rule source',
  created: 'The rule source is added. Its address is being checked.',
  notCreated: 'The rule source was not added.',
  rules: 'Rules',
  version: 'Version',
  newest: 'Newest version',
  applied: 'Imported',
  lastCheck: 'Last check',
  state: 'State',
  notApplied: 'nothing yet',
  states: {
    current: 'Up to date',
    update: 'Update',
    failing: 'Failing',
    disabled: 'Not checked',
    waiting: 'Checking',
  },
  failed: 'The last check failed.',
  check: 'Check now',
  checking: 'Checking …',
  checkedCurrent: 'The newest version is the one that you know.',
  checkedNew: 'There is a new version.',
  checkFailed: 'The address could not be checked.',
  enable: 'Check daily',
  disable: 'Stop checking',
  edit: 'Edit',
  editTitle: (name: string) => `Edit ${name}`,
  save: 'Save',
  saved: 'The rule source is saved.',
  notChanged: 'The rule source was not changed.',
  remove: 'Delete',
  removeTitle: (name: string) => `Delete ${name}?`,
  removeBody: (rules: number) =>
    rules === 0 ? 'It has no detections.' : `Its ${countOf(rules, 'detection')} remain, and belong to no source.`,
  removed: 'The rule source is deleted. Its detections remain.',
  minLevel: 'Level',
  levels: {
    informational: 'Any',
    low: 'Low or above',
    medium: 'Medium or above',
    high: 'High or above',
    critical: 'Critical',
  } satisfies Record<RuleSource['minLevel'], string>,
  statuses: 'Status',
  proposal: 'What an import would change',
  comparing: 'Comparing the rules with your logs and detections …',
  waiting: 'The address has not been read yet.',
  summary: ({ created, updated, removed, unchanged }: RuleUpdate) =>
    [
      `${formatNumber(created.length)} new`,
      ...(updated.length > 0 ? [`${formatNumber(updated.length)} changed`] : []),
      ...(removed.length > 0 ? [`${formatNumber(removed.length)} no longer in the set`] : []),
      `${formatNumber(unchanged)} unchanged`,
    ].join(', '),
  noise: (matches: number, rules: number) =>
    matches === 0
      ? 'None of them matches an event of the last 24 hours.'
      : `${formatNumber(rules)} of them ${rules === 1 ? 'has' : 'have'} ${countOf(matches, 'match', 'matches')} in the last 24 hours.`,
  nothing: 'Your detections match the newest version.',
  nothingFits: 'No rule of the set fits these settings and your logs.',
  leftOut: 'Left out',
  reasons: {
    withoutLogs: (rules: string) => `${rules} for whose log source you have no dataset`,
    byLevel: (rules: string) => `${rules} of a lower level`,
    byStatus: (rules: string) => `${rules} of another status`,
    notConverted: (rules: string) => `${rules} that cannot be converted`,
  },
  missingLogs: 'Logs that would add the most rules',
  logSource: 'Log source',
  groups: { created: 'New rules', updated: 'Changed rules', removed: 'No longer in the set' },
  rule: 'Rule',
  dataset: 'Dataset',
  matches: 'Events in 24 h',
  unknownMatches: 'unknown',
  more: (count: number) => `Show ${formatNumber(count)} more`,
  removeMissing: (count: number) => `Delete the ${countOf(count, 'detection')} whose rules the set no longer has`,
  removeMissingHint: 'They can be restored.',
  apply: ({ created, updated }: RuleUpdate, removed: number) => {
    const parts = [
      ...(created.length > 0 ? [`import ${countOf(created.length, 'rule')}`] : []),
      ...(updated.length > 0 ? [`update ${formatNumber(updated.length)}`] : []),
      ...(removed > 0 ? [`delete ${formatNumber(removed)}`] : []),
    ].join(', ');
    return parts === '' ? 'Use this version' : parts[0]!.toUpperCase() + parts.slice(1);
  },
  applying: ({ phase, rulesDone, rulesTotal }: ImportProgress) =>
    phase === 'converting' || rulesTotal === null
      ? 'Reading the rules'
      : `Stored ${formatNumber(rulesDone)} of ${countOf(rulesTotal, 'rule')}`,
  begun: 'Starting',
  notImported: 'The rules were not imported.',
  outcome: ({ created, updated, removed }: AppliedUpdate) =>
    `${formatNumber(created)} imported, ${formatNumber(updated)} updated, ${formatNumber(removed)} deleted`,
  failedRules: (count: number) => `${countOf(count, 'rule')} could not be imported`,
  detections: 'See the detections',
};
