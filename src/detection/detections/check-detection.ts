import { appError, type FieldError } from '../../platform/lib/errors.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { SiemError } from '../siem/connector.ts';
import { toDefinition, type Definition } from './record/definition.ts';
import type { AgentView, AgentWithPrompt } from './record/detection-row.ts';
import { findWarnings } from './record/warnings.ts';

/** Checks a query on the SIEM of a detection. Throws a SiemError with the reason if the query cannot run. */
export type CheckQuery = (
  orgId: OrgId,
  connection: { connectionId: string | null; siemType: string | null },
  query: string,
) => Promise<void>;

/** Runs a detection's tests against a definition and returns one error for each test that fails. */
export type CheckTests = (orgId: OrgId, detectionId: string, definition: Definition) => Promise<FieldError[]>;

export type CheckDetectionDeps = { checkQuery?: CheckQuery };
export type CheckTestsDeps = { checkTests?: CheckTests };

/** Implements `?validate=true`. Throws 422 `check_failed` with every reason why the detection cannot run. Queries the connected SIEM, but no model. */
export async function checkCanRun(deps: CheckDetectionDeps, orgId: OrgId, agent: AgentView): Promise<void> {
  const errors: FieldError[] = findWarnings(agent).map(({ code, field, detail }) => ({
    pointer: `/${field}`,
    code,
    detail,
  }));
  if (agent.siem_connected) errors.push(...(await findQueryErrors(deps, orgId, agent)));
  throwIfAny(errors);
}

async function findQueryErrors(
  { checkQuery }: CheckDetectionDeps,
  orgId: OrgId,
  { connection_id: connectionId, siem_type: siemType, detection_query: query }: AgentView,
): Promise<FieldError[]> {
  try {
    await checkQuery?.(orgId, { connectionId, siemType }, query ?? '');
    return [];
  } catch (error) {
    if (!(error instanceof SiemError)) throw error;
    return [{ pointer: '/detectionQuery', code: error.failure.kind, detail: error.failure.message }];
  }
}

/** Implements `?require=tests`. Throws 422 `check_failed` with the tests that fail, or if the detection has no tests. */
export async function checkTestsPass(
  { checkTests }: CheckTestsDeps,
  orgId: OrgId,
  agent: AgentWithPrompt,
): Promise<void> {
  throwIfAny((await checkTests?.(orgId, agent.id, toDefinition(agent))) ?? []);
}

function throwIfAny(errors: FieldError[]): void {
  const [first] = errors;
  if (first) throw appError('check_failed', first.detail, { errors });
}
