import type { Verdict } from '../../../src/detection/verdicts/verdict.ts';
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

/** A verdict whose claims are all in the rows. */
export const good: Verdict = {
  entity: 'alice',
  entityType: 'user',
  triggered: true,
  confidence: 80,
  severity: 'medium',
  headline: 'alice attached AdministratorAccess',
  summary: 'User alice called AttachUserPolicy from 192.0.2.7 on web-01. There were 12 failures.',
  evidence: [{ rowId: 'e1', field: 'policy', value: 'AdministratorAccess', why: 'full rights' }],
  nextStep: 'Ask alice whether this was planned.',
};
