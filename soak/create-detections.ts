import { createDetection } from '../src/detection/detections/create-detection.ts';
import type { CreateDetection } from '../src/detection/detections/record/detection-input.schema.ts';
import type { Deps } from '../src/app/deps.ts';
import type { OrgId } from '../src/platform/lib/org-id.ts';
import { operatorOf, type Caller } from '../src/platform/http/caller.ts';
import { createOrganization } from '../src/app/bootstrap.ts';
import type { SoakPlan } from './plan.ts';
import { repeatedMinutes, type SoakRuleKind, type SoakRule } from './scripted-events.ts';

/** The stored organizations and detections of a plan. `ids` has the detections' order in the plan. `local` are the organizations on the log store. */
export type SoakSetup = { orgIds: OrgId[]; ids: string[]; local: OrgId[]; callerOf: (org: number) => Caller };

const categories: Record<SoakRuleKind, CreateDetection['detectionCategory']> = {
  custom: 'custom',
  escalation: 'privilege_escalation',
  known: 'first_occurrence',
  counted: 'baseline_anomaly',
  sequence: 'sequence_pattern',
  repeated: 'custom',
  model: 'custom',
};
const batchSize = 8;

/** Returns whether an organization keeps its events in the embedded log store: the last ones do. */
export const usesLogStore = ({ options }: SoakPlan, org: number): boolean =>
  org >= options.organizations - options.localOrganizations;

export async function createDetections(deps: Deps, plan: SoakPlan): Promise<SoakSetup> {
  const orgIds: OrgId[] = [];
  for (let org = 0; org < plan.options.organizations; org += 1)
    orgIds.push((await createOrganization(deps, `soak-${org}`)).id);
  const callerOf = (org: number): Caller => operatorOf(orgIds[org]!);
  const ids: string[] = [];
  for (let n = 0; n < plan.rules.length; n += batchSize) {
    const batch = plan.rules.slice(n, n + batchSize);
    const created = await Promise.all(
      batch.map((rule) => createDetection(deps, callerOf(rule.org), buildInput(plan, rule))),
    );
    ids.push(...created.map(({ id }) => id));
  }
  return { orgIds, ids, callerOf, local: orgIds.filter((_, org) => usesLogStore(plan, org)) };
}

function buildInput(plan: SoakPlan, rule: SoakRule): CreateDetection {
  const { index, kind } = rule;
  return {
    name: `${kind} ${index}`,
    detectionCategory: categories[kind],
    systemPrompt: 'Judge it.',
    detectionQuery: usesLogStore(plan, rule.org)
      ? logStoreQuery(rule)
      : `rule=${index}${kind === 'counted' ? ' sums' : ''}`,
    detectionCadence: 'hourly',
    entityField: 'user',
    modelAlias: kind === 'model' ? 'stand_in' : 'analyst',
    planningMode: 'never',
    // The planted numbers come too often to be rare.
    ...(kind === 'counted' ? { tuning: { sensitivity: 'high' as const } } : {}),
    suppressionMinutes: kind === 'repeated' ? repeatedMinutes : 0,
  };
}

function logStoreQuery({ index, kind }: SoakRule): string {
  if (kind === 'counted') return `SELECT "user", sum(count) AS count FROM soak WHERE rule = ${index} GROUP BY "user"`;
  const steps = kind === 'sequence' ? ', step, steps' : '';
  return `SELECT _id, _time, "user", action${steps} FROM soak WHERE rule = ${index}`;
}
