import type { Deps } from '../../app/deps.ts';
import { appError, type FieldError } from '../../platform/lib/errors.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { SiemError } from '../siem/connector.ts';
import type { AgentView, AgentWithPrompt } from './record/detection-row.ts';
import { definitionText, type Definition } from './record/definition.ts';
import { warningsOf } from './record/warnings.ts';

/** `?validate=true`: 422 check_failed with what would not run. Asks the SIEM that is connected, never a model. */
export async function checkWouldRun(deps: Pick<Deps, 'checkQuery'>, orgId: OrgId, agent: AgentView): Promise<void> {
  const errors: FieldError[] = warningsOf(agent).map(({ code, field, detail }) => ({
    pointer: `/${field}`,
    code,
    detail,
  }));
  if (agent.siem_connected) errors.push(...(await queryErrors(deps, orgId, agent)));
  const [first] = errors;
  if (first) throw appError('check_failed', first.detail, { errors });
}

async function queryErrors(
  { checkQuery }: Pick<Deps, 'checkQuery'>,
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

/** `?require=tests`: 422 check_failed with the tests of the detection that the definition does not pass, or that it has none. */
export async function checkTestsPass(
  { checkTests }: Pick<Deps, 'checkTests'>,
  orgId: OrgId,
  agent: AgentWithPrompt,
): Promise<void> {
  const definition = JSON.parse(definitionText(agent)) as Definition;
  const errors = (await checkTests?.(orgId, agent.id, definition)) ?? [];
  const [first] = errors;
  if (first) throw appError('check_failed', first.detail, { errors });
}
