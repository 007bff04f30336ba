import type { TestDatabase } from '../database.ts';
import { startModelStandIn, type ModelRequestRecord, type ModelBrain } from '../models/model-stand-in.ts';
import { createScriptedModels } from '../models/scripted-models.ts';
import { verdictOn } from '../models/verdict-on.ts';
import { hour, startRuns, type ScriptedSearch, type RunsTest } from './scripted-runs.ts';
import type { CreateDetection } from '../../../src/detection/detections/record/detection-input.schema.ts';

export { claimOn, verdictOn } from '../models/verdict-on.ts';

export const login = (user: string, n = 0) => ({ _id: `e-${user}-${n}`, _time: hour(0), user, action: 'ConsoleLogin' });

/** A claim that the first document of a detection, `runbook`, explains the behavior. */
export const excuse = {
  text: 'The runbook says that such sign-ins are planned.',
  kind: 'fact',
  cites: [{ document: 'runbook', quote: 'such sign-ins are planned' }],
};
export const runbook = {
  provider: 'wiki',
  id: '1',
  name: 'runbook',
  mimeType: 'text/plain',
  content: 'At night, such sign-ins are planned.',
};

/** Returns a dismissal with proof, for a detection with the document `runbook`. */
export const dismissalOn = (request: ModelRequestRecord, overrides: Record<string, unknown> = {}) =>
  verdictOn(request, { verdict: 'dismiss', confidence: 90, severity: 'none', claims: [excuse], ...overrides });

/** Returns a raise that cites a value that is not in the rows. */
export const misquoteOn = (request: ModelRequestRecord) =>
  verdictOn(request, {
    claims: [
      {
        text: 'It deleted the trail.',
        kind: 'fact',
        cites: [{ observation: 'rows', rowId: 'e-nobody', field: 'action', value: 'DeleteTrail' }],
      },
    ],
  });

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
  const id = await t.newDetection({ modelAlias: 'm', ...detection });
  return { t, id, stand, judgeStand };
}

export const listRunRows = (t: RunsTest) =>
  t.select<
    Record<string, unknown> & { id: string; failure: string | null }
  >`select id, status, model, model_alias, tokens, cost_usd, score, score_basis, warnings, failure, hit_count, attempt from runs order by due_at, id`;
export const retryNow = (t: RunsTest) => t.select`update run_queue set retry_at = null`;
export const readLastFailure = async (t: RunsTest) => JSON.parse(String((await listRunRows(t)).at(-1)?.failure));
