import { inOrg, queryRows } from '../../src/platform/db/db.ts';
import { executeDueRuns } from '../../src/detection/runs/workers/run-loops.ts';
import type { ModelStep } from '../../src/platform/models/model-request.ts';
import type { Verdict } from '../../src/detection/verdicts/verdict.ts';
import type { RenderedRow } from '../../src/detection/analysis/candidate.ts';
import type { AgentCase } from './case-table.ts';
import type { CaseProgram, CaseWorld } from './case-world.ts';
import { investigatedAt } from './company-logs.ts';

/** How a case ended. `verdict` is null for a candidate that became a hit without one, and the outcome `lost` means that there is no candidate. */
export type CaseResult = {
  case: AgentCase;
  outcome: 'raise' | 'dismiss' | 'undecided' | 'unjudged' | 'lost';
  /** The hit that it became, whatever the verdict. */
  hitId: string | null;
  verdict: Verdict | null;
  rows: RenderedRow[];
  steps: ModelStep[];
};
export type ColumnResult = { results: CaseResult[]; failures: string[]; ms: number };

/** Runs each case through the API, the queues and the workers, `atOnce` side by side, and returns how it ended. Cases of a detection run one after the other. */
export async function runColumn(
  world: CaseWorld,
  program: CaseProgram,
  cases: readonly AgentCase[],
  atOnce = 4,
): Promise<ColumnResult> {
  const startedAt = performance.now();
  const spans = [
    ...Map.groupBy(cases, ({ company, detection, from, to }) => [company, detection, from, to].join(' ')).values(),
  ];
  const queues = [...Map.groupBy(spans, ([one]) => `${one!.company} ${one!.detection}`).values()];
  const results: CaseResult[] = [];
  const failures: string[] = [];
  for (let round = 0; queues.some((queue) => round < queue.length); round += 1) {
    const spansNow = queues.map((queue) => queue[round]).filter((span) => span !== undefined);
    const started: { runId: string; one: AgentCase }[] = [];
    for (const span of spansNow) {
      const one = span[0]!;
      const { company, detection, from, to } = one;
      const id = world.companies.get(company)!.detections.get(detection)!;
      const { runId } = await program.callAs(company)<{ runId: string }>('POST', `/api/detections/${id}/run`, {
        from,
        to,
      });
      started.push({ runId, one });
    }
    await executeDueRuns(program.deps, investigatedAt, { concurrency: atOnce });
    for (const { runId, one } of started) {
      const run = await program.callAs(one.company)<{ status: string; failure?: unknown; warnings?: unknown[] }>(
        'GET',
        `/api/runs/${runId}`,
      );
      if (run.status !== 'completed')
        failures.push(`${one.id}: ${run.status} ${JSON.stringify(run.failure ?? run.warnings)}`);
    }
    for (const one of spansNow.flat()) results.push(await readResult(world, program, one));
  }
  return { results, failures, ms: performance.now() - startedAt };
}

type CandidateRow = { state: string; verdict: string | null; hit_id: string | null; rows: string; run_id: string };

async function readResult(world: CaseWorld, { deps }: CaseProgram, one: AgentCase): Promise<CaseResult> {
  const { orgId, detections } = world.companies.get(one.company)!;
  const detectionId = detections.get(one.detection)!;
  const read = await inOrg(deps.db, orgId, async (tx) => {
    const [candidate] = await queryRows<CandidateRow>(tx)`select state, verdict, hit_id, rows, run_id from candidates
      where organization_id = ${orgId} and detection_id = ${detectionId} and entity = ${one.entity}
        and window_from >= ${new Date(one.from)} and window_from < ${new Date(one.to)} order by created_at desc, id limit 1`;
    if (!candidate) return undefined;
    const steps = await queryRows<{ body: string }>(tx)`select body from run_steps
      where organization_id = ${orgId} and run_id = ${candidate.run_id} order by n`;
    return { candidate, steps: steps.map(({ body }) => JSON.parse(body) as ModelStep) };
  });
  if (!read) return { case: one, outcome: 'lost', hitId: null, verdict: null, rows: [], steps: [] };
  const { state, verdict: text, hit_id, rows } = read.candidate;
  const verdict = text === null ? null : (JSON.parse(text) as Verdict);
  return {
    case: one,
    outcome: state !== 'judged' || verdict === null ? 'unjudged' : verdict.verdict,
    hitId: hit_id,
    verdict,
    rows: JSON.parse(rows) as RenderedRow[],
    steps: read.steps.filter(({ entity }) => entity === one.entity),
  };
}
