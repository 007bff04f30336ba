import { inOrg, rehearse } from '../../../platform/db/db.ts';
import type { Deps } from '../../../app/deps.ts';
import type { Caller } from '../../../platform/orgs/caller.ts';
import type { AgentView } from '../record/detection-row.ts';
import type { ExportedSet, ImportRequest, ImportResult } from './bulk.schema.ts';
import { reasonOf } from './bulk-actions.ts';
import { createDetection } from '../create-detection.ts';
import { CreateDetection } from '../record/detection-input.ts';
import { listAllTests } from '../test-cases/test-cases.store.ts';
import { TestSet } from '../test-cases/test-cases.schema.ts';
import { getTests, putTests } from '../test-cases/test-cases.ts';
import { updateDetection } from '../update-detection.ts';
import { findAgent, listDetections } from '../detection-views.store.ts';

type PortableDeps = Pick<Deps, 'db' | 'clock' | 'checkQuery' | 'checkTests'>;
type Result = ImportResult['results'][number];

/** The organization's detections with their tests, each as a body that import takes; the oldest first. */
export async function exportDetections({ db, clock }: PortableDeps, caller: Caller): Promise<ExportedSet> {
  const now = clock();
  const { orgId } = caller;
  const { agents, tests } = await inOrg(db, orgId, async (tx) => ({
    agents: await listDetections(tx, { orgId, now }, { limit: null, after: null }),
    tests: await listAllTests(tx, orgId),
  }));
  const detections = agents.toReversed().map((agent) => ({ ...toPortable(agent), ...tests.get(agent.id) }));
  return { exportedAt: now.toISOString(), detections };
}

function toPortable(agent: AgentView): Record<string, unknown> {
  const all = {
    id: agent.id,
    name: agent.name,
    description: agent.description,
    detectionCategory: agent.detection_category,
    systemPrompt: agent.prompt,
    detectionQuery: agent.detection_query,
    siemType: agent.siem_type,
    toolNames: agent.tool_names,
    detectionCadence: agent.detection_cadence,
    customCronSchedule: agent.custom_cron_schedule,
    enabled: agent.enabled,
    tags: agent.tags,
    modelAlias: agent.model_alias,
    planningMode: agent.planning_mode,
    mode: agent.mode,
    inputs: JSON.parse(agent.inputs) as unknown,
    contextDocs: JSON.parse(agent.context_docs) as unknown,
  };
  const set = {
    structuredOutputSchema: agent.structured_output_schema && (JSON.parse(agent.structured_output_schema) as unknown),
    entityField: agent.entity_field,
    timeField: agent.time_field,
    lookbackMinutes: agent.lookback_minutes,
    suppressionMinutes: agent.suppression_minutes,
    connectionId: agent.connection_id,
    budgets: agent.budgets && (JSON.parse(agent.budgets) as unknown),
  };
  return { ...all, ...Object.fromEntries(Object.entries(set).filter(([, value]) => value !== null)) };
}

/** Creates or updates each detection by itself: known by its id, else by a name that one detection has, else it is new. */
export async function importDetections(
  deps: PortableDeps,
  caller: Caller,
  { detections, dryRun = false }: ImportRequest,
): Promise<ImportResult> {
  const on = dryRun ? { ...deps, db: rehearse(deps.db) } : deps;
  const results: Result[] = [];
  for (const given of detections) results.push(await importOne(on, caller, given, dryRun));
  return { dryRun, results };
}

async function importOne(
  deps: PortableDeps,
  caller: Caller,
  { id, tests, localQuery, ...body }: Record<string, unknown>,
  dryRun: boolean,
): Promise<Result> {
  const given = {
    id: typeof id === 'string' ? id : null,
    name: typeof body['name'] === 'string' ? body['name'] : null,
  };
  const parsed = CreateDetection.safeParse(body);
  const set = tests === undefined ? undefined : TestSet.safeParse({ tests, localQuery });
  const [issue] = [...(parsed.error?.issues ?? []), ...(set?.error?.issues ?? [])];
  if (issue || !parsed.data) {
    const detail = `/${issue?.path.join('/') ?? ''}: ${issue?.message ?? ''}`;
    return { ...given, outcome: 'failed', code: 'validation_failed', detail };
  }
  try {
    const known = await findKnown(deps, caller, { id: given.id, name: parsed.data.name });
    const done = known
      ? await updateDetection(deps, caller, { id: known.id, input: parsed.data })
      : await createDetection(deps, caller, parsed.data);
    // What a dry run created is gone already.
    const testsChanged =
      set?.data !== undefined &&
      (known !== undefined || !dryRun) &&
      (await storeTests(deps, caller, done.id, set.data));
    const isSame = known?.updated_at.toISOString() === done.updatedAt && !testsChanged;
    const outcome = !known ? 'created' : isSame ? 'unchanged' : 'updated';
    return { id: dryRun && !known ? given.id : done.id, name: done.name, outcome, code: null, detail: null };
  } catch (error) {
    return { ...given, outcome: 'failed', ...reasonOf(error) };
  }
}

async function storeTests(deps: PortableDeps, caller: Caller, id: string, set: TestSet): Promise<boolean> {
  const before = await getTests(deps, caller, id);
  if (JSON.stringify([before.tests, before.localQuery]) === JSON.stringify([set.tests, set.localQuery ?? null]))
    return false;
  await putTests(deps, caller, id, set);
  return true;
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function findKnown(
  { db, clock }: PortableDeps,
  { orgId }: Caller,
  { id, name }: { id: string | null; name: string },
): Promise<AgentView | undefined> {
  const scope = { orgId, now: clock() };
  return inOrg(db, orgId, async (tx) => {
    const byId = id !== null && uuid.test(id) ? await findAgent(tx, scope, id) : undefined;
    if (byId?.agent_type === 'detection') return byId;
    const named = (await listDetections(tx, scope, { q: name, limit: null, after: null })).filter(
      (agent) => agent.name === name,
    );
    return named.length === 1 ? named[0] : undefined;
  });
}
