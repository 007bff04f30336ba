import { createDetection } from '../src/detection/detections/create-detection.ts';
import type { CreateDetection } from '../src/detection/detections/record/detection-input.ts';
import type { Deps } from '../src/app/deps.ts';
import type { OrgId } from '../src/platform/lib/org-id.ts';
import { scopes, type Caller } from '../src/platform/orgs/caller.ts';
import { createOrganization } from '../src/app/bootstrap.ts';
import type { Plan } from './plan.ts';
import { repeatedMinutes, type Kind, type Rule } from './world.ts';

/** The organizations and detections of a plan in the database: `ids` by the detection's index, `orgIds` by the organization's place. */
export type Made = { orgIds: OrgId[]; ids: string[]; local: OrgId[]; caller: (org: number) => Caller };

const categories: Record<Kind, CreateDetection['detectionCategory']> = {
  custom: 'custom',
  escalation: 'privilege_escalation',
  known: 'first_occurrence',
  counted: 'baseline_anomaly',
  sequence: 'sequence_pattern',
  repeated: 'custom',
  model: 'custom',
};
const atOnce = 8;

/** The last organizations are those whose events lie in the embedded log store. */
export const isLocal = ({ options }: Plan, org: number): boolean => org >= options.organizations - options.local;

export async function makeDetections(deps: Deps, plan: Plan): Promise<Made> {
  const orgIds: OrgId[] = [];
  for (let org = 0; org < plan.options.organizations; org += 1)
    orgIds.push((await createOrganization(deps, `soak-${org}`)).id);
  const caller = (org: number): Caller => ({ orgId: orgIds[org]!, keyId: null, scopes: new Set(scopes) });
  const ids: string[] = [];
  for (let n = 0; n < plan.rules.length; n += atOnce) {
    const some = plan.rules.slice(n, n + atOnce);
    const made = await Promise.all(some.map((rule) => createDetection(deps, caller(rule.org), inputOf(plan, rule))));
    ids.push(...made.map(({ id }) => id));
  }
  return { orgIds, ids, caller, local: orgIds.filter((_, org) => isLocal(plan, org)) };
}

function inputOf(plan: Plan, rule: Rule): CreateDetection {
  const { index, kind } = rule;
  return {
    name: `${kind} ${index}`,
    detectionCategory: categories[kind],
    systemPrompt: 'Judge it.',
    detectionQuery: isLocal(plan, rule.org) ? localQuery(rule) : `rule=${index}${kind === 'counted' ? ' sums' : ''}`,
    detectionCadence: 'hourly',
    entityField: 'user',
    modelAlias: kind === 'model' ? 'stand_in' : 'analyst',
    planningMode: 'never',
    suppressionMinutes: kind === 'repeated' ? repeatedMinutes : 0,
  };
}

function localQuery({ index, kind }: Rule): string {
  if (kind === 'counted') return `SELECT "user", sum(count) AS count FROM soak WHERE rule = ${index} GROUP BY "user"`;
  const steps = kind === 'sequence' ? ', step, steps' : '';
  return `SELECT _id, _time, "user", action${steps} FROM soak WHERE rule = ${index}`;
}
