import type { CaseFile } from '../../../src/detection/verdicts/claims/case-file.ts';
import type { Observation } from '../../../src/detection/verdicts/observation.ts';
import type { Submission } from '../../../src/detection/verdicts/verdict.ts';
import type { Candidate } from '../../../src/detection/analysis/candidate.ts';
import { candidatesOf, definitionOf } from './analysis-examples.ts';

export const rows = [
  {
    _id: 'e1',
    _time: '2024-01-01T03:04:05Z',
    user: 'alice',
    eventName: 'AttachUserPolicy',
    ip: '192.0.2.7',
    host: 'web-01',
    policy: 'AdministratorAccess',
    eventID: 'id-1',
    failures: 12,
    note: 'opened by the night shift for one hour',
  },
  {
    _id: 'e2',
    _time: '2024-01-01T03:05:00Z',
    user: 'alice',
    eventName: 'CreateAccessKey',
    ip: '192.0.2.7',
    sha1: 'da39a3ee5e6b4b0d3255bfef95601890afd80709',
    url: 'https://files.example.com/a?b=1',
  },
];
/** Candidates of the rows: of a severity that the judge decides, and of one that it cannot lower. */
export const [medium] = candidatesOf(rows, definitionOf('custom')) as [Candidate];
export const [high] = candidatesOf(rows, definitionOf('privilege_escalation')) as [Candidate];

/** A submission whose claims are all in the rows. */
export const good: Submission = {
  verdict: 'raise',
  severity: 'medium',
  confidence: 80,
  headline: 'alice attached AdministratorAccess',
  claims: [
    {
      text: 'User alice called AttachUserPolicy from 192.0.2.7 on web-01.',
      kind: 'fact',
      cites: [
        { observation: 'rows', rowId: 'e1', field: 'eventName', value: 'AttachUserPolicy' },
        { observation: 'rows', rowId: 'e1', field: 'ip', value: '192.0.2.7' },
        { observation: 'rows', rowId: 'e1', field: 'host', value: 'web-01' },
      ],
    },
    {
      text: 'There were 12 failures.',
      kind: 'fact',
      cites: [{ observation: 'rows', rowId: 'e1', field: 'failures', value: '12' }],
    },
    { text: 'It looks like an attempt to gain full rights.', kind: 'assessment', cites: [] },
  ],
  techniques: ['T1098'],
  nextSteps: ['Ask alice whether this was planned.'],
};

/** The case of a candidate about which nothing else is known. */
export const caseOf = (candidate: Candidate, more: Partial<CaseFile> = {}): CaseFile => ({
  candidate,
  facts: candidate.facts,
  observations: [],
  notes: [],
  hits: [],
  entries: [],
  items: [],
  documents: [],
  ...more,
});

/** An observation of a search that found these rows. */
export const observationOf = (id: string, ...rows: Record<string, string>[]): Observation => ({
  id,
  tool: 'search_logs',
  input: {},
  query: 'SELECT * FROM signins',
  from: '2024-01-01T00:00:00.000Z',
  to: '2024-01-02T00:00:00.000Z',
  columns: Object.keys(rows[0] ?? {}).map((name) => ({ name, kind: 'value' })),
  rows: rows.map((fields, index) => ({ rowId: `r${index + 1}`, time: null, fields })),
  total: rows.length,
  truncated: false,
  hasEvents: true,
  source: 'events',
  isTrusted: false,
  at: '2024-01-02T00:00:00.000Z',
  ms: 3,
  hash: 'x',
});
