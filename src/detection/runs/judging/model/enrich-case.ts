import { createDelimiter } from '../../../../platform/models/ask-model.ts';
import type { Candidate } from '../../../analysis/candidate.ts';
import { enrichTool, listEnrichable } from '../../../tools/enrich.ts';
import { runToolCalls, type ToolTask } from '../../../verdicts/investigation/toolbox.ts';
import type { Observation } from '../../../verdicts/observation.ts';
import type { ActiveRun } from '../../run-model/active-run.ts';
import { bindTools, type BindToolsDeps } from './bind-tools.ts';

type Enriching = Pick<ToolTask, 'recordStep' | 'signal'> & { callsBefore: number };

/** Returns what the enrichers of the organization know of the addresses of a case, as an observation that claims can cite. */
export async function enrichCase(
  deps: BindToolsDeps,
  run: ActiveRun,
  candidate: Candidate,
  { callsBefore, ...task }: Enriching,
): Promise<Observation[]> {
  const values = listEnrichable(candidate);
  if (values.length === 0 || !(await deps.enrich?.isOn(run.orgId))) return [];
  const tools = await bindTools(deps, run, candidate, [enrichTool]);
  const [found] = await runToolCalls(
    { ...task, tools, model: { name: 'service' }, definition: { mode: 'standard' }, file: { candidate } },
    [{ id: enrichTool, name: enrichTool, input: { values } }],
    { delimiter: createDelimiter(), observations: [], callsBefore },
  );
  return found?.observation && found.observation.rows.length > 0 ? [found.observation] : [];
}
