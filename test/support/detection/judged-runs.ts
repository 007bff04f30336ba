import { sql } from 'kysely';
import type { testDatabase } from '../database.ts';
import { startStandIn, type Asked, type Brain } from '../models/model-stand-in.ts';
import { blocksOf, modelsAt } from '../models/scripted-models.ts';
import { startRuns, type Answer, type RunsTest } from './scripted-runs.ts';
import type { CreateDetection } from '../../../src/detection/detections/record/detection-input.ts';

type TestDatabase = Awaited<ReturnType<typeof testDatabase>>;

export const hour = (n: number): string => new Date(Date.UTC(2026, 2, 2, n)).toISOString();
export const login = (user: string, n = 0) => ({ _id: `e-${user}-${n}`, _time: hour(0), user, action: 'ConsoleLogin' });

/** A verdict on whatever entity is asked about, from its own first row. */
export function verdictOn(asked: Asked, more: Record<string, unknown> = {}) {
  const [facts, rows] = blocksOf(asked.turns[0]!.text);
  const { entity, entityType } = JSON.parse(facts!) as { entity: string; entityType: string };
  const [row] = JSON.parse(rows!) as { rowId: string; fields: Record<string, string> }[];
  const [field, value] = Object.entries(row!.fields).find(([name]) => name === 'action')!;
  const evidence = [{ rowId: row!.rowId, field, value, why: 'the sign-in' }];
  const verdict = {
    entity,
    entityType,
    triggered: true,
    confidence: 77,
    severity: 'low',
    headline: 'A sign-in',
    summary: 'It signed in.',
    evidence,
    nextStep: 'Ask.',
    ...more,
  };
  return { calls: [{ name: 'submit_verdict', input: verdict }] };
}

type Options = {
  answer?: Answer;
  entry?: Record<string, unknown>;
  detection?: Partial<CreateDetection>;
  judge?: Brain;
};

/** Runs of one detection whose alias `m` leads to a stand-in that answers as `brain` does, and `judge` for the judge model. */
export async function startJudged(on: TestDatabase, brain: Brain, { answer, entry, detection, judge }: Options = {}) {
  const stand = await startStandIn('anthropic', brain);
  const judgeStand = judge && (await startStandIn('anthropic', judge));
  const t = await startRuns(
    on,
    answer ?? (({ window }) => (window.from.toISOString() === hour(0) ? [login('root'), login('bob')] : [])),
  );
  t.deps.models = modelsAt({ m: stand.url, ...(judgeStand ? { judge: judgeStand.url } : {}) }, entry);
  const id = await t.newDetection({ modelAlias: 'm', planningMode: 'never', ...detection });
  return { t, id, stand, judgeStand };
}

export const runsOf = (t: RunsTest) =>
  t.select(
    sql<
      Record<string, unknown> & { id: string; failure: string | null }
    >`select id, status, model, model_alias, tokens, cost_usd, score, score_basis, warnings, failure, hit_count, attempt from runs order by due_at, id`,
  );
export const again = (t: RunsTest) => t.select(sql`update run_queue set retry_at = null`);
export const failureOf = async (t: RunsTest) => JSON.parse(String((await runsOf(t)).at(-1)?.failure));
