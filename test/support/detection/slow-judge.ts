import type { Candidate } from '../../../src/detection/analysis/candidate.ts';
import { judgeAsAnalyst, type Judge, type Judged } from '../../../src/detection/runs/judging/judge.ts';
import type { Verdict } from '../../../src/detection/verdicts/verdict.ts';
import { detectionTexts } from './analysis-examples.ts';
import type { RunsTest } from './scripted-runs.ts';

/** Returns the analyst's verdict on a candidate, with other fields. */
export function judgedAs(candidate: Candidate, fields: Partial<Verdict> = {}): Judged {
  const judged = judgeAsAnalyst(candidate, detectionTexts);
  return { ...judged, verdict: { ...judged.verdict, ...fields } };
}

/** What makes a verdict a dismissal. */
export const dismissed = { verdict: 'dismiss', triggered: false } as const;

/** Returns a judge that is not instant, so that each verdict is stored immediately. It fails after `limit` verdicts. */
export function slowJudge(limit = Infinity): Judge & { asked: string[] } {
  const asked: string[] = [];
  return {
    model: 'scripted',
    instant: false,
    asked,
    judge: async (candidate) => {
      if (asked.length >= limit) throw new Error('the model is gone');
      asked.push(candidate.entity);
      return judgedAs(candidate, { confidence: 42 });
    },
  };
}

/** Returns the hits with the fields that a verdict sets. */
export const listJudgedHits = (t: RunsTest) =>
  t.select<{ entity: string; occurrences: number; judged: boolean; confidence: number; last_seen_at: Date }>`
    select entity, occurrences, judged, confidence, last_seen_at from hits order by entity, created_at, id`;
