import { countOf } from '../lib/text.ts';
import type { CaseState, ReviewCase } from '../api/review.ts';
import { texts as common } from './common.ts';

export const texts = {
  title: common.pages.review,
  one: 'Case',
  filters: { state: 'State', kind: 'Kind' },
  states: {
    open: 'Open',
    raised: 'Raised',
    dismissed: 'Dismissed',
    expired: 'Expired',
    outdated: 'Outdated',
  } satisfies Record<CaseState, string>,
  kinds: { undecided: 'Undecided', audit: 'Audit of dismissals' } satisfies Record<ReviewCase['kind'], string>,
  empty: {
    title: 'Nothing to review',
    body: 'Cases that a judge left undecided wait here, of detections that let a person review them, and a sample of what judges dismissed.',
    filtered: 'No case matches these filters.',
  },
  becomesHit: 'Becomes a hit',
  leavesAudit: 'Leaves the audit',
  raise: 'Raise as a hit',
  dismiss: 'Dismiss',
  reason: 'Why?',
  raised: 'It is a hit now.',
  dismissed: 'Dismissed.',
  failed: 'The case was not decided.',
  audit: 'The judge dismissed it. Was that right?',
  auditBody: 'It belongs to the sample from which the detection learns how many of its dismissals are wrong.',
  second: (alias: string, verdict: ReviewCase['verdict'], confidence: number) =>
    `The alias “${alias}” ${{ raise: 'raises it', dismiss: 'dismisses it', undecided: 'could not decide' }[verdict]} (${confidence} % confident).`,
  decided: (state: CaseState) => `This case is ${texts.states[state].toLowerCase()}.`,
  by: (actor: string) => `Decided by ${actor}.`,
  addTest: 'Add as a test case',
  testAdded: 'The test case is added.',
  testHint: 'Its events are the rows of the query. Check them in the tests of the detection.',
  testFailed: 'The test case was not added.',
  hit: 'See the hit',
  investigation: 'See the investigation',
  verdict: 'Verdict',
  evidence: 'Evidence',
  facts: 'Facts',
  next: 'Next step',
  detection: 'Detection',
  entity: 'Entity',
  window: 'Window',
  dismissals: {
    percent: 'Audited dismissals, percent',
    percentHint: 'Of each detection and day, at least one and at most 100. 0 turns the audit off.',
    title: 'Dismissals',
    waiting: (open: number) => `${countOf(open, 'dismissal')} to look at`,
    sample: (dismissals: number, sampled: number, days: number) =>
      `Judges dismissed ${countOf(dismissals, 'candidate')} in ${days} days, and ${sampled} of them belong to the audit.`,
    byPeople: 'No other model alias looks at them, so that one dishonest model is noticed by people alone.',
    byAlias: (alias: string) => `The alias “${alias}” judges them again.`,
  },
};
