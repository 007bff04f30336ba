import { countOf } from '../lib/text.ts';
import type { Claim } from '../api/hits.ts';

/** Texts of verdicts, their sentences and what is behind them. */
export const texts = {
  evidence: 'Evidence',
  time: 'Time',
  cited: 'Cited as evidence',
  allFields: (hidden: number) => `Show ${hidden} more ${hidden === 1 ? 'field' : 'fields'}`,
  allRows: (count: number) => `Show all ${countOf(count, 'row')}`,
  unjudged: 'No model judged this. It stands on its facts alone.',
  notTriggered: 'Not a hit',
  triggered: 'Hit',
  undecided: 'Undecided',
  openQuestion: 'Undecided: a person must find out',
  nextStep: 'Next step',
  confidence: (percent: number) => `${percent} % confident`,
  status: {
    supported: 'Supported by a second look',
    cited: 'Cited',
    unproven: 'Unproven',
    assessment: 'Assessment',
  } satisfies Record<Claim['status'], string>,
  notFound: (field: string, value: string) => `It cites ${field} “${value}”, which is not there.`,
  query: 'Query',
  detectionQuery: 'The query of the detection',
  input: 'Input',
  span: 'Time span of the query',
  trusted: 'Trusted source',
  rowCount: (shown: number, total: number) =>
    total > shown ? `The first ${shown} of ${countOf(total, 'row')}` : countOf(total, 'row'),
  noRows: {
    true: 'No rows, although the source has events in this time.',
    false: 'No rows, and the source has no events in this time.',
    null: 'No rows. Whether the source has events in this time is unknown.',
  },
  /** Titles of what is cited beside rows. */
  sources: {
    rows: (rowId: string) => `Row ${rowId}`,
    fact: () => 'Fact computed from the logs',
    hit: () => 'Earlier hit',
    note: () => 'Note of your organization',
    list: (name: string) => `Value list ${name}`,
    document: (name: string) => `Document ${name}`,
    item: () => 'Feed item',
  },
  see: { hit: 'See the hit', case: 'See the case', item: 'See the feed item' },
};
