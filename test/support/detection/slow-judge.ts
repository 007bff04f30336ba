import type { Judge } from '../../../src/detection/runs/judging/judge.ts';
import { createAnalystVerdict } from '../../../src/detection/verdicts/analyst/analyst.ts';
import { detectionTexts } from './analysis-examples.ts';
import type { RunsTest } from './scripted-runs.ts';

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
      return { ...createAnalystVerdict(candidate, detectionTexts), confidence: 42 };
    },
  };
}

/** Returns the hits with the fields that a verdict sets. */
export const listJudgedHits = (t: RunsTest) =>
  t.select<{ entity: string; occurrences: number; judged: boolean; confidence: number; last_seen_at: Date }>`
    select entity, occurrences, judged, confidence, last_seen_at from hits order by entity, created_at, id`;
