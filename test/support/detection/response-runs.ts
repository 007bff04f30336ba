import type { ModelBrain } from '../models/model-stand-in.ts';
import type { TestDatabase } from '../database.ts';
import { createResponseAgent } from '../../../src/detection/response-agents/response-agents.ts';
import type { CreateAgent } from '../../../src/detection/detections/record/detection-input.schema.ts';
import { createSecretbox } from '../../../src/platform/lib/secretbox.ts';
import { login, startJudgedRuns, verdictOn } from './judged-runs.ts';
import { hour, type RunsTest } from './scripted-runs.ts';

const secrets = createSecretbox({ secretKey: 'k'.repeat(40), dataDir: '', databaseUrl: undefined });

export const agentInput: CreateAgent = {
  name: 'Look into sign-ins',
  systemPrompt: 'Find out who signed in.',
  modelAlias: 'm',
  toolNames: [],
};
export const trigger = {
  source: 'hit.created' as const,
  enabled: true,
  filter: {},
  inputs: {},
  about: 'hit' as const,
  runsPerHourMax: 60,
};

/** Raises a case with rows, and leaves one without any undecided. */
export const judge: ModelBrain = (asked) =>
  asked.turns[0]!.text.includes('Its rows, 0 of 0')
    ? { calls: [{ name: 'submit_verdict', input: open }] }
    : verdictOn(asked);
const open = {
  claims: [],
  techniques: [],
  nextSteps: ['Who?'],
  headline: '',
  verdict: 'undecided',
  severity: 'none',
  confidence: 50,
};

type Options = { input?: Partial<CreateAgent>; row?: Record<string, unknown>; brain?: ModelBrain };

/** Starts a detection that raises a hit for each user, with the fields of `row`, and a response agent with the same model. */
export async function startResponses(
  testDb: TestDatabase,
  users = ['root', 'bob'],
  { input, row, brain = judge }: Options = {},
) {
  const answer = ({ window }: { window: { from: Date } }) =>
    window.from.toISOString() === hour(0) ? users.map((user, n) => ({ ...login(user, n), ...row })) : [];
  const world = await startJudgedRuns(testDb, brain, { answer, entry: { verifyClaims: false } });
  const { t } = world;
  const deps = { ...t.deps, secrets };
  const agent = await createResponseAgent(t.deps, t.caller, { ...agentInput, ...input });
  return { ...world, deps, agent };
}

type RunListRow = { id: string; detection_id: string; status: string; event: string | null };
export const listRuns = (t: RunsTest, agentId: string) =>
  t.select<RunListRow>`select id, detection_id, status, event, failure from runs where detection_id = ${agentId} order by due_at, id`;
