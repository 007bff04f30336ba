import type { TestDatabase } from '../database.ts';
import { startModelStandIn, type ModelRequestRecord, type ModelBrain } from '../models/model-stand-in.ts';
import { delimitedBlocks, createScriptedModels } from '../models/scripted-models.ts';
import { hour, startRuns, type ScriptedSearch, type RunsTest } from './scripted-runs.ts';
import type { CreateDetection } from '../../../src/detection/detections/record/detection-input.schema.ts';

export const login = (user: string, n = 0) => ({ _id: `e-${user}-${n}`, _time: hour(0), user, action: 'ConsoleLogin' });

/** Returns a verdict on the entity of a request, with evidence from its first row. */
export function verdictOn(request: ModelRequestRecord, overrides: Record<string, unknown> = {}) {
  const [facts, rows] = delimitedBlocks(request.turns[0]!.text);
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
    ...overrides,
  };
  return { calls: [{ name: 'submit_verdict', input: verdict }] };
}

/** Returns a verdict on the entity of a request that cites a value that is not in its rows. */
export const misquoteOn = (request: ModelRequestRecord) =>
  verdictOn(request, { evidence: [{ rowId: 'e-nobody', field: 'action', value: 'DeleteTrail', why: 'x' }] });

type Options = {
  answer?: ScriptedSearch;
  entry?: Record<string, unknown>;
  detection?: Partial<CreateDetection>;
  judge?: ModelBrain;
};

/** Starts runs of one detection whose model alias `m` is a stand-in driven by `brain`. `judge` drives the judge model. */
export async function startJudgedRuns(
  testDb: TestDatabase,
  brain: ModelBrain,
  { answer, entry, detection, judge }: Options = {},
) {
  const stand = await startModelStandIn('anthropic', brain);
  const judgeStand = judge && (await startModelStandIn('anthropic', judge));
  const t = await startRuns(
    testDb,
    answer ?? (({ window }) => (window.from.toISOString() === hour(0) ? [login('root'), login('bob')] : [])),
  );
  t.deps.models = createScriptedModels({ m: stand.url, ...(judgeStand ? { judge: judgeStand.url } : {}) }, entry);
  const id = await t.newDetection({ modelAlias: 'm', planningMode: 'never', ...detection });
  return { t, id, stand, judgeStand };
}

export const listRunRows = (t: RunsTest) =>
  t.select<
    Record<string, unknown> & { id: string; failure: string | null }
  >`select id, status, model, model_alias, tokens, cost_usd, score, score_basis, warnings, failure, hit_count, attempt from runs order by due_at, id`;
export const retryNow = (t: RunsTest) => t.select`update run_queue set retry_at = null`;
export const readLastFailure = async (t: RunsTest) => JSON.parse(String((await listRunRows(t)).at(-1)?.failure));
