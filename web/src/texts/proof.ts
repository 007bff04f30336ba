import type { ExceptionProposal } from '../api/detection-parts.ts';
import { countOf } from '../lib/text.ts';

/** Texts of prompts, revisions, tests, backtests and exceptions. */
export const texts = {
  prompts: {
    versions: 'Versions',
    active: 'Active',
    service: 'the service',
    compare: 'Changes since version',
    none: 'nothing before',
    changes: (added: number, removed: number) => `${added} added, ${removed} removed`,
    same: 'Both versions are the same.',
    activate: 'Use this version',
    activated: (version: number) => `Version ${version} is active.`,
    edit: 'Write a new version',
    text: 'Prompt',
    note: 'What changed (optional)',
    save: 'Save version',
    saved: (version: number) => `Version ${version} is saved. It is not active yet.`,
    failed: 'That did not work.',
    text_of: (version: number) => `Version ${version}`,
  },
  revisions: {
    title: 'Revisions',
    one: (revision: number) => `Revision ${revision}`,
    /** `onUndecided` reads “on undecided”. */
    field: (name: string) => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`),
    changes: (revision: number) => `Changes since revision ${revision}`,
    first: 'It was created with this one.',
    restore: 'Restore this revision',
    restored: (revision: number) => `Revision ${revision} is restored as a new one.`,
  },
  tests: {
    title: 'Test cases',
    none: 'No test cases',
    noneHint:
      'A test case is a list of events and the entities that must be hits. Saves can be made to depend on them.',
    add: 'Add a test case',
    edit: 'Edit as JSON',
    run: 'Run tests',
    running: 'Running …',
    save: 'Save',
    saved: 'Test cases saved.',
    failed: 'That did not work.',
    notJson: 'This is not valid JSON.',
    passed: 'Passed',
    notPassed: 'Failed',
    notRun: 'Not run',
    expects: (entities: readonly string[]) =>
      entities.length === 0 ? 'Expects no hit' : `Expects ${entities.join(', ')}`,
    missing: 'Missing',
    unexpected: 'Unexpected',
    events: (count: number) => `${count} ${count === 1 ? 'event' : 'events'}`,
    notQuery:
      'The events stand for the rows of the query, which needs another SIEM. Give a local query to test it as well.',
  },
  backtest: {
    intro:
      'Runs the detection over past time without storing anything, and compares its hits with what people decided.',
    range: 'Time',
    /** By hours. */
    ranges: {
      '1': 'Last hour',
      '6': 'Last 6 hours',
      '24': 'Last 24 hours',
      '72': 'Last 3 days',
      '168': 'Last 7 days',
      '336': 'Last 14 days',
      '720': 'Last 30 days',
      '2160': 'Last 90 days',
    },
    compare: 'Compare with prompt version',
    model: 'Compare with model',
    nothing: 'Nothing',
    start: 'Start backtest',
    running: 'Backtest running …',
    begun: 'Preparing the windows …',
    progress: (done: string, total: string) => `Examined ${done} of ${total} windows`,
    tuning: 'Looking for a quieter tuning …',
    incomplete: 'The time limit was reached before all windows were examined.',
    summary: (windows: string, rows: string) => `${windows} windows, ${rows} rows`,
    hitsPerDay: 'Hits per day',
    columns: {
      version: 'Version',
      model: 'Model',
      hits: 'Hits',
      candidates: 'Candidates',
      belowMinimum: 'Below minimum',
      workingHours: 'In working hours',
      precision: 'Precision',
      recall: 'Recall',
      cost: 'Cost',
    },
    version: (version: number) => `Prompt ${version}`,
    proposal: 'A quieter tuning',
    proposalText: (before: number, after: number, kept: number) =>
      `With it, candidates fall from ${before} to ${after} a week, ${
        kept === 0
          ? 'but no hit of this time was judged a true positive, so nothing shows that true positives would be kept. Judge some hits first.'
          : `and ${kept} ${kept === 1 ? 'true positive is' : 'true positives are'} kept.`
      }`,
    apply: 'Use this tuning',
    applied: 'The tuning is saved.',
    failed: 'That did not work.',
  },
  tuning: {
    title: 'Make it quieter',
    exceptions: 'Hide what false positives have in common, with proof that true positives and tests stay.',
    findExceptions: 'Find exceptions',
    thresholds: 'Raise a threshold, with proof that true positives stay. The backtest may take a minute.',
    findThresholds: 'Find a threshold',
    noThresholds: 'It is quiet enough already, or no threshold makes it quiet and keeps what was judged true positive.',
  },
  similar: {
    open: 'Hide similar?',
    title: 'Hide similar',
    looking: 'Exceptions with proof of what they hide and keep.',
    intro: (hits: string) => `Exceptions for ${hits}. The narrowest is first.`,
    choose: 'What to hide',
    hides: (chosen: number, others: number) =>
      `Hides ${chosen === 1 ? 'the false positive' : `the ${chosen} false positives`} and ${
        others === 0 ? 'nothing else' : countOf(others, 'other finding')
      }.`,
    keeps: ({ truePositives, undecided, tests, rehearsals }: ExceptionProposal['keeps']) =>
      truePositives + undecided + tests + rehearsals === 0
        ? 'Nothing was judged a true positive and no test exists, so there is nothing to keep. Judge hits or add tests first.'
        : `Keeps ${countOf(truePositives, 'true positive')}, ${countOf(undecided, 'undecided finding')}, ${countOf(tests, 'test')} and ${countOf(rehearsals, 'rehearsed attack')}: all there are.`,
    fires: (techniques: readonly string[]) =>
      `With each of them, it still fires on the rehearsals of ${techniques.join(', ')}.`,
    coverage: 'Still raised',
    compared: (findings: string, isComplete: boolean) =>
      `Compared with ${findings}${isComplete ? ', all that are stored' : ', the newest and all that must stay'}.`,
    doNotFire: (names: readonly string[]) =>
      `These tests prove nothing, because they fail without an exception as well: ${names.join(', ')}.`,
    reason: 'Reason',
    owner: 'Owner',
    until: 'Until',
    periods: { '7': '7 days', '30': '30 days', '90': '90 days', '': 'No end' },
    create: 'Create exception',
    failed: 'No exceptions could be proposed.',
  },
  exceptions: {
    title: 'Exceptions and snoozes',
    and: 'and',
    owner: (name: string) => `Owner: ${name}`,
    last: 'Last',
    endsSoon: 'Ends soon',
    examples: 'What it hid last',
    none: 'No exceptions',
    noneHint:
      'An exception keeps findings about an entity or a value from becoming hits. It counts what it muted, so that a forgotten one is seen.',
    create: 'Create exception',
    entity: 'Entity',
    field: 'Field',
    value: 'Value',
    valueHint: 'Any case. * stands for any text.',
    list: 'Value list',
    listHint: 'Instead of a value: the list has the value of the field, or without a field the entity.',
    inList: (what: string, list: string) => `${what} in ${list}`,
    reason: 'Reason',
    expires: 'Until (optional)',
    columns: { what: 'Hides', reason: 'Reason and owner', matches: 'Hid', expires: 'Until', created: 'Created' },
    everything: 'Everything',
    forever: 'No end',
    end: 'End',
    ended: 'The exception is ended.',
    created: 'The exception is created.',
    inactive: 'Ended',
    failed: 'That did not work.',
  },
};
